import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Routes for the service's own accounts: sign-up, log-in, renewal, log-out and password change.
struct AccountRoutes: Sendable {
    let accounts: AccountService
    let attempts: AccountAttempts
    let passwords: PasswordWork
    /// The languages of mails; nil if no mail is sent.
    let mailLanguages: [String]?

    /// Caches must not store tokens (RFC 6749 section 5.1).
    static let headers: HTTPFields = [.cacheControl: "no-store"]

    /// - Parameter group: Routes without authentication.
    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        group.on(.signUp) { request, context in try await signUp(request, context) }
        group.on(.checkEmail) { request, context in
            try attempts.countLookup(request, context)
            let email = try EmailAddress(
                try await body(of: request, context, fields: ["email"]).text(
                    "email", upTo: JSONBody.maximumCredentialLength))
            return try JSONAnswer.response(
                AvailabilityResource(isAvailable: try await accounts.isAvailable(email)), headers: Self.headers)
        }
        group.on(.logIn) { request, context in try await logIn(request, context) }
        group.on(.renewSession) { request, context in
            let token = try await body(of: request, context, fields: ["refreshToken"]).text("refreshToken")
            // A token without a session causes no write.
            let presented = try await accounts.presented(token)
            if let refusal = presented.refusal { throw refusal }
            let tokens = try await accounts.renew(presented)
            return try JSONAnswer.response(RenewalResource(tokens: TokensResource(tokens)), headers: Self.headers)
        }
        group.on(.logOut) { request, context in
            let token = try await body(of: request, context, fields: ["refreshToken"]).text("refreshToken")
            let presented = try await accounts.presented(token)
            // Logging out twice succeeds.
            if presented.refusal == nil { try await accounts.end(presented) }
            return HTTPResponse.Status.noContent
        }
    }

    func addForApps(to group: RouterGroup<ServiceContext>) {
        group.on(.getAccount) { _, context in
            let user = try context.requiredUser
            return try JSONAnswer.response(
                AccountResource(try await accounts.account(of: user)), headers: Self.headers)
        }
        group.on(.changePassword) { request, context in try await changePassword(request, context) }
    }

    /// The language of a mail that a request asks for.
    func language(of request: Request) -> String {
        Language.choose(for: request, among: mailLanguages ?? []) ?? "en"
    }

    func body(
        of request: Request,
        _ context: ServiceContext,
        fields: [String]
    ) async throws -> JSONBody {
        try await JSONBody(
            request, context, fields: fields, upTo: JSONBody.sizeWithoutCredential)
    }

    private func signUp(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let fields = try await body(of: request, context, fields: ["email", "password"])
        let email = try EmailAddress(try fields.text("email", upTo: JSONBody.maximumCredentialLength))
        let password = try Password(try fields.text("password", upTo: JSONBody.maximumCredentialLength), of: email)
        try attempts.countSignUp(request, context)
        // Hashing is expensive, so taken addresses are refused first.
        guard try await accounts.isAvailable(email) else { throw AccountError.emailTaken }
        let account = try await passwords.run { try accounts.newAccount(email, password) }
        let entrance = try await accounts.open(
            account, language: language(of: request), newcomers: context.newcomers(for: request))
        return try JSONAnswer.response(
            bytes: JSONAnswer.encode(EntranceResource(entrance)), status: .created, headers: Self.headers)
    }

    private func logIn(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let fields = try await body(of: request, context, fields: ["email", "password"])
        let (email, password) = (
            try fields.text("email", upTo: JSONBody.maximumCredentialLength),
            try fields.text("password", upTo: JSONBody.maximumCredentialLength)
        )
        let entrance = try await attempts.try(email, request, context) {
            let account = try await accounts.account(email: email)
            let isRight = try await passwords.run { try accounts.isPassword(password, of: account) }
            guard let account, isRight else { throw AccountError.credentialsWrong }
            return try await accounts.enter(account)
        }
        return try JSONAnswer.response(
            bytes: JSONAnswer.encode(EntranceResource(entrance)), status: .created, headers: Self.headers)
    }

    private func changePassword(
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> HTTPResponse.Status {
        let fields = try await body(of: request, context, fields: ["password", "newPassword"])
        let (old, new) = (
            try fields.text("password", upTo: JSONBody.maximumCredentialLength),
            try fields.text("newPassword", upTo: JSONBody.maximumCredentialLength)
        )
        let account = try await confirmed(old, context)
        let password = try Password(new, of: account.address)
        let hash = try await passwords.run { try accounts.hash(password) }
        let token = AuthenticationMiddleware.credential(of: request) ?? ""
        try await accounts.setPasswordHash(hash, of: account, from: token)
        return .noContent
    }

    /// The caller's account, after the password is confirmed. Changes that cannot be undone need more than a token.
    ///
    /// - Throws: `AccountError`, `passwordWrong` or `accountNotFound`.
    func confirmed(_ password: String, _ context: ServiceContext) async throws -> AccountRecord {
        let user = try context.requiredUser
        let account = try await accounts.account(of: user)
        return try await attempts.try(user) {
            guard try await passwords.run({ try accounts.isPassword(password, of: account) }) else {
                throw AccountError.passwordWrong
            }
            return account
        }
    }
}

/// An account with the service, in its user's view.
package struct AccountResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, named: "UserAccount", "An account with the service itself.")
        .noting([
            "accountId": .uuid("The name of the user for back ends, with the issuer `till`."),
            "email": "The address as the user wrote it; absent after another person has proven that it is theirs.",
            "emailVerifiedAt": .time("The time of the verification; absent before it."),
            "createdAt": .time("The time of the sign-up."),
        ])

    package let accountId: String
    package let email: String?
    package let emailVerifiedAt: String?
    package let createdAt: String

    init(_ account: AccountRecord) {
        accountId = account.user.name
        email = account.email.isEmpty ? nil : account.email
        emailVerifiedAt = account.emailVerifiedAt?.rfc3339
        createdAt = account.createdAt.rfc3339
    }
}

/// The tokens of a session.
package struct TokensResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "Tokens", "The tokens of a session. The service returns them once."
    ).noting([
        "accessToken": "The bearer token, valid for 15 minutes.",
        "accessTokenExpiresAt": .time("The expiration of the access token."),
        "refreshToken": "Valid once, for a new pair. A second use ends the session.",
        "refreshTokenExpiresAt": .time("The expiration of the refresh token, after 60 days."),
    ])

    package let accessToken: String
    let accessTokenExpiresAt: String
    package let refreshToken: String
    let refreshTokenExpiresAt: String

    init(_ tokens: SessionTokens) {
        accessToken = tokens.access.text
        accessTokenExpiresAt = tokens.access.endsAt.rfc3339
        refreshToken = tokens.refresh.text
        refreshTokenExpiresAt = tokens.refresh.endsAt.rfc3339
    }
}

/// The account and the new session after a sign-up or login.
package struct EntranceResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "Entrance", "A logged-in user.")

    package let account: AccountResource
    package let tokens: TokensResource

    init(_ entrance: AccountService.Entrance) {
        account = AccountResource(entrance.account)
        tokens = TokensResource(entrance.tokens)
    }
}

/// The new tokens of a renewed session.
package struct RenewalResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, "The new tokens.")

    package let tokens: TokensResource
}

/// The availability of an e-mail address for a new account.
package struct AvailabilityResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, "The availability.").noting([
        "isAvailable": "True if a user can sign up with the address."
    ])

    package let isAvailable: Bool
}

extension AccountService: AccessTokens {
    package func caller(presenting credential: String) async throws -> Caller? {
        guard Self.isAccessToken(credential) else { return nil }
        switch try await user(presenting: credential) {
        case .user(let user): return .app(user, app: nil)
        case .expired: throw Problem.tokenExpired
        case .invalid: throw Problem.tokenInvalid("the access token is unknown or its session has ended")
        }
    }
}

/// The rate limits on passwords: one for each account and one for each client address.
///
/// Logged-in users have a limit of their own, so a stranger cannot lock them out. An unknown address is limited like an
/// account.
struct AccountAttempts: Sendable {
    private let ofAccount: TokenBuckets
    private let ofUser: TokenBuckets
    private let fromAddress: TokenBuckets
    private let lookups: TokenBuckets

    init(clock: any WallClock) {
        ofAccount = TokenBuckets(.init(atOnce: 10, perMinute: 1), clock: clock)
        ofUser = TokenBuckets(.init(atOnce: 10, perMinute: 1), clock: clock)
        fromAddress = TokenBuckets(.init(atOnce: 30, perMinute: 6), clock: clock)
        lookups = TokenBuckets(.init(atOnce: 120, perMinute: 60), clock: clock)
    }

    /// Runs an attempt that needs the password of an account. A wrong password uses up one attempt.
    ///
    /// - Parameter email: The address as the client sent it. Its case does not matter.
    func `try`<Value>(
        _ email: String,
        _ request: Request,
        _ context: ServiceContext,
        _ attempt: () async throws -> Value
    ) async throws -> Value {
        let address = context.clientAddress(of: request)
        let account = (try? EmailAddress(email))?.lowercase ?? email
        try Self.take(address, from: fromAddress)
        do { try Self.take(account, from: ofAccount) } catch {
            // The attempt was not made.
            fromAddress.returnToken(address)
            throw error
        }
        return try await counted(attempt) {
            fromAddress.returnToken(address)
            ofAccount.returnToken(account)
        }
    }

    /// Runs an attempt of a logged-in user.
    func `try`<Value>(_ user: User, _ attempt: () async throws -> Value) async throws -> Value {
        try Self.take(user.name, from: ofUser)
        return try await counted(attempt) { ofUser.returnToken(user.name) }
    }

    /// - Parameter returnToken: Called unless the password was wrong. Another failure is not a guess.
    private func counted<Value>(_ attempt: () async throws -> Value, returnToken: () -> Void) async throws -> Value {
        do {
            let value = try await attempt()
            returnToken()
            return value
        } catch {
            if ![.credentialsWrong, .passwordWrong].contains(error as? AccountError) { returnToken() }
            throw error
        }
    }

    /// Takes a token for a sign-up or a request for a mail from the limit of the client address.
    func countSignUp(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try Self.take(context.clientAddress(of: request), from: fromAddress)
    }

    /// Takes a token for a question, such as whether an address is free, from the limit of the client address.
    func countLookup(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try Self.take(context.clientAddress(of: request), from: lookups)
    }

    private static func take(_ subject: String, from buckets: TokenBuckets) throws(Problem) {
        guard let seconds = buckets.take(subject) else { return }
        throw .tooManyAttempts(secondsToWait: seconds)
    }
}

/// Routes for mailed links: verification, password reset and change of address.
struct AccountMailRoutes: Sendable {
    let routes: AccountRoutes

    private var accounts: AccountService { routes.accounts }

    /// - Parameter group: Routes without authentication, because a link may be opened on any device.
    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        group.on(.askForReset) { request, context in
            let fields = try await routes.body(of: request, context, fields: ["email"])
            let email = try EmailAddress(try fields.text("email", upTo: JSONBody.maximumCredentialLength))
            try routes.attempts.countSignUp(request, context)
            try await accounts.askForReset(of: email, in: routes.language(of: request))
            // The same answer for an address without an account, and for one that has reached its mail limit.
            return HTTPResponse.Status.accepted
        }
        group.on(.resetPassword) { request, context in try await reset(request, context) }
        group.on(.confirmAddress) { request, context in
            let token = try await token(of: request, context)
            let confirmation = try await accounts.confirm(token)
            return try JSONAnswer.response(ConfirmationResource(confirmation), headers: AccountRoutes.headers)
        }
        group.on(.releaseAddress) { request, context in
            try await accounts.release(try await token(of: request, context))
            return HTTPResponse.Status.noContent
        }
    }

    func addForApps(to group: RouterGroup<ServiceContext>) {
        group.on(.askForVerification) { request, context in
            let user = try context.requiredUser
            try await accounts.askForVerification(of: user, in: routes.language(of: request))
            return HTTPResponse.Status.accepted
        }
        group.on(.changeEmail) { request, context in
            let fields = try await routes.body(of: request, context, fields: ["password", "email"])
            let password = try fields.text("password", upTo: JSONBody.maximumCredentialLength)
            let email = try EmailAddress(try fields.text("email", upTo: JSONBody.maximumCredentialLength))
            let account = try await routes.confirmed(password, context)
            try await accounts.askForChange(of: account, to: email, in: routes.language(of: request))
            return HTTPResponse.Status.accepted
        }
    }

    private func token(of request: Request, _ context: ServiceContext) async throws -> String {
        let token = try await routes.body(of: request, context, fields: ["token"]).text("token")
        try routes.attempts.countLookup(request, context)
        return token
    }

    private func reset(_ request: Request, _ context: ServiceContext) async throws -> HTTPResponse.Status {
        let fields = try await routes.body(of: request, context, fields: ["token", "password"])
        let (token, text) = (
            try fields.text("token"), try fields.text("password", upTo: JSONBody.maximumCredentialLength)
        )
        try routes.attempts.countLookup(request, context)
        let presented = try await accounts.presentedReset(token)
        let password = try Password(text, of: presented.account.address)
        let hash = try await routes.passwords.run { try accounts.hash(password) }
        try await accounts.reset(presented, to: hash)
        return .noContent
    }
}

/// The answer to the token of a mailed link that confirms an address.
package struct ConfirmationResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, "The result.").noting([
        "outcome":
            "`verified`: the address of the account is verified. `changed`: the account has the new address. `waitsForOther`: the other address must still be confirmed."
    ])

    package enum Outcome: String, CaseIterable, Codable, Sendable {
        /// The address of the account is verified.
        case verified
        /// The account has the new address.
        case changed
        /// The change awaits the confirmation at the other address.
        case waitsForOther
    }

    package let outcome: Outcome

    init(_ confirmation: Confirmation) {
        outcome =
            switch confirmation {
            case .verified: .verified
            case .changed: .changed
            case .waitsForOther: .waitsForOther
            }
    }
}
