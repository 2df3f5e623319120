import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// Routes for the service's own accounts: sign-up, log-in, renewal, log-out, password change, and mailed links.
struct AccountRoutes: OperationGroup {
    static let tag = OperationTag(
        "Accounts", "Accounts with the service itself, by e-mail and password.",
        [
            .signUp, .checkEmail, .askForReset, .resetPassword, .confirmAddress, .releaseAddress, .logIn, .renewSession,
            .logOut, .getAccount, .changePassword, .askForVerification, .changeEmail,
        ])
    static let optional = [
        OptionalOperations(option: "--accounts", operations: operations),
        // The links need a mailer, too.
        OptionalOperations(option: "--mail-server smtps://mail.example.com", operations: APIOperation.mailedLinks),
    ]
    let parts: ServiceParts
    let accounts: AccountService

    init?(parts: ServiceParts) {
        guard let accounts = parts.till.accounts else { return nil }
        (self.parts, self.accounts) = (parts, accounts)
    }

    /// - Parameter group: Routes without authentication.
    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        group.on(.signUp) { request, context in try await signUp(request, context) }
        group.on(.checkEmail) { request, context in
            try parts.attempts.countLookup(request, context)
            let email = try await body(of: .checkEmail, request, context).email()
            return try answer(Availability(isAvailable: try await accounts.isAvailable(email)))
        }
        group.on(.logIn) { request, context in try await logIn(request, context) }
        group.on(.renewSession) { request, context in
            let token = try await body(of: .renewSession, request, context).text("refreshToken")
            return try answer(Renewal(tokens: try await accounts.renew(token)))
        }
        group.on(.logOut) { request, context in
            let token = try await body(of: .logOut, request, context).text("refreshToken")
            // Logging out twice succeeds.
            try await accounts.endSession(token)
            return HTTPResponse.Status.noContent
        }
        if accounts.templates != nil { addLinks(to: group) }
    }

    /// A link may be opened on any device, so its routes need no authentication.
    private func addLinks(to group: RouterGroup<ServiceContext>) {
        group.on(.askForReset) { request, context in
            let email = try await body(of: .askForReset, request, context).email()
            try parts.attempts.countSignUp(request, context)
            try await accounts.askForReset(of: email, in: language(of: request))
            // The same answer for an address without an account, and for one that has reached its mail limit.
            return HTTPResponse.Status.accepted
        }
        group.on(.resetPassword) { request, context in
            let fields = try await body(of: .resetPassword, request, context)
            let (token, text) = (try fields.text("token"), try fields.credential("password"))
            try parts.attempts.countLookup(request, context)
            let account = try await accounts.account(resetBy: token)
            let hash = try await hash(text, of: account.address, request, context)
            try await accounts.reset(token, to: hash)
            return HTTPResponse.Status.noContent
        }
        group.on(.confirmAddress) { request, context in
            let token = try await token(of: request, context)
            return try answer(ConfirmedAddress(outcome: try await accounts.confirm(token)))
        }
        group.on(.releaseAddress) { request, context in
            try await accounts.release(try await token(of: request, context))
            return HTTPResponse.Status.noContent
        }
    }

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.getAccount) { _, context in
            try answer(try await accounts.account(of: try context.requiredUser))
        }
        group.on(.changePassword) { request, context in
            let fields = try await body(of: .changePassword, request, context)
            let (old, new) = (try fields.credential("password"), try fields.credential("newPassword"))
            let account = try await confirmed(old, request, context)
            let hash = try await hash(new, of: account.address, request, context)
            let token = AuthenticationMiddleware.credential(of: request) ?? ""
            try await accounts.setPasswordHash(hash, of: account, from: token)
            return HTTPResponse.Status.noContent
        }
        guard accounts.templates != nil else { return }
        group.on(.askForVerification) { request, context in
            try await accounts.askForVerification(of: try context.requiredUser, in: language(of: request))
            return HTTPResponse.Status.accepted
        }
        group.on(.changeEmail) { request, context in
            let fields = try await body(of: .changeEmail, request, context)
            let (password, email) = (try fields.credential("password"), try fields.email())
            let account = try await confirmed(password, request, context)
            try await accounts.askForChange(of: account, to: email, in: language(of: request))
            return HTTPResponse.Status.accepted
        }
    }

    /// The language of a mail that a request asks for.
    private func language(of request: Request) -> String {
        Language.choose(for: request, among: accounts.templates?.languages ?? []) ?? "en"
    }

    private func body(of operation: APIOperation, _ request: Request, _ context: ServiceContext) async throws
        -> JSONBody
    {
        try await JSONBody(request, context, of: operation, upTo: JSONBody.sizeWithoutCredential)
    }

    /// The token of a mailed link.
    private func token(of request: Request, _ context: ServiceContext) async throws -> String {
        let token = try await body(of: .confirmAddress, request, context).text("token")
        try parts.attempts.countLookup(request, context)
        return token
    }

    /// Caches must not store tokens (RFC 6749 section 5.1).
    private func answer(_ value: some AnswerValue, status: HTTPResponse.Status = .ok) throws -> Response {
        try value.answer(status: status, headers: [.cacheControl: "no-store"])
    }

    /// The hash of a new password of a user who is logged in or has a link.
    private func hash(
        _ text: String, of email: EmailAddress?, _ request: Request, _ context: ServiceContext
    ) async throws -> String {
        let password = try Password(text, of: email)
        return try await parts.passwords.run(for: context.clientNetwork(of: request), isKnown: true) {
            try accounts.passwords.hash(password)
        }
    }

    private func signUp(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let fields = try await body(of: .signUp, request, context)
        let email = try fields.email()
        let password = try Password(try fields.credential("password"), of: email)
        try parts.attempts.countSignUp(request, context)
        // Hashing is expensive, so taken addresses are refused first.
        guard try await accounts.isAvailable(email) else { throw AccountError.emailTaken }
        let hash = try await parts.passwords.run(for: context.clientNetwork(of: request)) {
            try accounts.passwords.hash(password)
        }
        let entrance = try await accounts.open(
            email, passwordHash: hash, language: language(of: request), newcomers: context.newcomers(for: request))
        return try answer(entrance, status: .created)
    }

    private func logIn(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let fields = try await body(of: .logIn, request, context)
        let (email, password) = (try fields.credential("email"), try fields.credential("password"))
        let entrance = try await parts.attempts.try(email, request, context) { isQuiet in
            let account = try await accounts.account(email: email)
            // While others wait, the time of an answer tells that an account exists. `/v1/accounts/availability` tells it, too.
            let isKnown = isQuiet && account != nil
            guard try await isPassword(password, of: account, isKnown: isKnown, request, context), let account else {
                throw AccountError.credentialsWrong
            }
            return try await accounts.enter(account)
        }
        return try answer(entrance, status: .created)
    }

    private func isPassword(
        _ password: String, of account: AccountRecord?, isKnown: Bool, _ request: Request, _ context: ServiceContext
    ) async throws -> Bool {
        let stored = account?.passwordHash
        return try await parts.passwords.run(for: context.clientNetwork(of: request), isKnown: isKnown) {
            try accounts.passwords.matches(password, stored)
        }
    }

    /// The caller's account, after the password is confirmed. Changes that cannot be undone need more than a token.
    ///
    /// - Throws: `CredentialError.passwordWrong`; `AccountError.accountNotFound`.
    func confirmed(
        _ password: String, _ request: Request, _ context: ServiceContext
    ) async throws -> AccountRecord {
        let user = try context.requiredUser
        let account = try await accounts.account(of: user)
        return try await parts.attempts.try(user) {
            guard try await isPassword(password, of: account, isKnown: true, request, context) else {
                throw CredentialError.passwordWrong
            }
            return account
        }
    }
}

extension JSONBody {
    /// A required e-mail address or password, whose own rules refuse shorter ones with a specific code.
    func credential(_ field: String) throws(Problem) -> String {
        try text(field, upTo: JSONBody.maximumCredentialLength)
    }

    /// The address in the field `email`.
    fileprivate func email() throws -> EmailAddress { try EmailAddress(try credential("email")) }
}

/// An account with the service, in its user's view.
extension AccountRecord: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "An account with the service itself.", named: "UserAccount"
    ) {
        $0.field("accountId", .uuid("The name of the user for back ends, with the issuer `till`."), \.user.name)
        $0.field(
            "email", "The address as the user wrote it; absent after another person has proven that it is theirs."
        ) { $0.email.isEmpty ? nil : $0.email }
        $0.field("emailVerifiedAt", "The time of the verification; absent before it.", \.emailVerifiedAt)
        $0.field("createdAt", "The time of the sign-up.", \.createdAt)
    }
}

extension SessionTokens: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "The tokens of a session. The service returns them once.", named: "Tokens"
    ) {
        $0.field("accessToken", "The bearer token, valid for 15 minutes.", \.access.text)
        $0.field("accessTokenExpiresAt", "The expiration of the access token.", \.access.endsAt)
        $0.field(
            "refreshToken", "Valid once, for a new pair. A second use ends the session.", \.refresh.text)
        $0.field(
            "refreshTokenExpiresAt", "The expiration of the refresh token, after 60 days.", \.refresh.endsAt)
    }
}

/// The account and the new session after a sign-up or login.
extension AccountService.Entrance: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A logged-in user.", named: "Entrance") {
        $0.field("account", \.account)
        $0.field("tokens", \.tokens)
    }
}

struct Renewal: AnswerObject {
    static let answerFields = AnswerFields<Self>("The new tokens.") { $0.field("tokens", \.tokens) }

    let tokens: SessionTokens
}

/// The answer to the token of a mailed link that confirms an address.
struct ConfirmedAddress: AnswerObject {
    static let answerFields = AnswerFields<Self>("The result.") {
        $0.field(
            "outcome",
            "`verified`: the address of the account is verified. `changed`: the account has the new address. `waitsForOther`: the other address must still be confirmed.",
            \.outcome)
    }

    let outcome: Confirmation
}

extension Confirmation: AnswerValue {}

/// The availability of an e-mail address for a new account.
struct Availability: AnswerObject {
    static let answerFields = AnswerFields<Self>("The availability.") {
        $0.field("isAvailable", "True if a user can sign up with the address.", \.isAvailable)
    }

    let isAvailable: Bool
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

/// The rate limits on passwords: one for each account and one for each client network.
///
/// Logged-in users have a limit of their own, so a stranger cannot lock them out. An unknown address is limited like an
/// account.
struct AccountAttempts: Sendable {
    private let limits: PasswordLimits
    private let ofUser: TokenBuckets
    private let lookups: NetworkBuckets

    init(clock: any WallClock) {
        limits = PasswordLimits(clock: clock)
        ofUser = TokenBuckets(PasswordLimits.perName, clock: clock)
        lookups = NetworkBuckets(.init(atOnce: 120, perMinute: 60), clock: clock)
    }

    /// Runs an attempt that needs the password of an account. A wrong password uses up one attempt.
    ///
    /// - Parameters:
    ///   - email: The address as the client sent it. Its case does not matter.
    ///   - attempt: The attempt. It receives true if nobody has guessed at the account lately.
    func `try`<Value>(
        _ email: String, _ request: Request, _ context: ServiceContext,
        _ attempt: (_ isQuiet: Bool) async throws -> Value
    ) async throws -> Value {
        let account = (try? EmailAddress(email))?.lowercase ?? email
        let isQuiet = limits.isQuiet(account)
        return try await limits.attempt(account, from: context.clientNetwork(of: request), Self.isGuess) {
            try await attempt(isQuiet)
        }
    }

    /// Runs an attempt of a logged-in user.
    func `try`<Value>(_ user: User, _ attempt: () async throws -> Value) async throws -> Value {
        try await ofUser.attempt(user.name, Self.isGuess, attempt)
    }

    /// Another failure is not a guess.
    private static func isGuess(_ error: any Error) -> Bool {
        error as? AccountError == .credentialsWrong || error as? CredentialError == .passwordWrong
    }

    /// Takes a token for a sign-up or a request for a mail from the limit of the client network.
    func countSignUp(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try limits.ofNetwork.require(context.clientNetwork(of: request))
    }

    /// Takes a token for a question, such as whether an address is free, from the limit of the client network.
    func countLookup(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try lookups.require(context.clientNetwork(of: request))
    }
}

extension APIOperation {
    /// The operations that need a mailer, too.
    static let mailedLinks = [
        askForReset, resetPassword, confirmAddress, releaseAddress, askForVerification, changeEmail,
    ]

    static let signUp = APIOperation(
        .post, "/v1/accounts", for: .anybody,
        "signUp", "Signs up with e-mail and password",
        details: "Only with `till serve --accounts`.",
        body: .json(.credentials),
        answers: [.json("The new account and its first session.", AccountService.Entrance.self, status: 201)],
        or: [.conflict, .refused, .tooManyRequests])

    static let checkEmail = APIOperation(
        .post, "/v1/accounts/availability", for: .anybody, usesReserve: true,
        "checkEmail", "Checks whether an e-mail address is free",
        body: .json(["email": .text("An e-mail address.", upTo: 256)]).described("An address."),
        answers: [.json("The availability.", Availability.self)],
        or: [.refused, .tooManyRequests])

    static let askForReset = APIOperation(
        .post, "/v1/accounts/recovery", for: .anybody,
        "askForReset", "Sends a link to reset the password",
        details:
            "Only if mail is configured. The answer is the same for an address without an account or above its mail limit. `Accept-Language` selects the language of the mail.",
        body: .json(["email": .text("An e-mail address.", upTo: 256)]).described("An address."),
        answers: [.empty("The mail is queued, if one is to be sent.", status: 202)],
        or: [.refused, .tooManyRequests])

    static let resetPassword = APIOperation(
        .post, "/v1/accounts/password", for: .anybody,
        "resetPassword", "Sets a new password by a mailed link",
        details: "Only if mail is configured. All sessions of the account end.",
        body: .json([
            "token": .text("The token of the link.", upTo: 256),
            "password": .text("The new password: at least 8 characters, at most 256 bytes.", upTo: 256),
        ]).described("The link's token and the password."),
        answers: [.empty("The password is set, and the address is verified.")],
        or: [.refused, .tooManyRequests])

    static let confirmAddress = APIOperation(
        .post, "/v1/accounts/confirmation", for: .anybody,
        "confirmAddress", "Confirms an address by a mailed link",
        details: "Only if mail is configured. A change of address must be confirmed at both addresses.",
        body: .json(.linkToken),
        answers: [.json("The result.", ConfirmedAddress.self)],
        or: [.conflict, .refused, .tooManyRequests])

    static let releaseAddress = APIOperation(
        .post, "/v1/accounts/release", for: .anybody,
        "releaseAddress", "Removes an address from another person's account, by the link that verifies it",
        details: "Only if mail is configured. The account stays, without an address.",
        body: .json(.linkToken),
        answers: [.empty("The address has no account now.")],
        or: [.conflict, .refused, .tooManyRequests])

    static let logIn = APIOperation(
        .post, "/v1/sessions", for: .anybody,
        "logIn", "Logs in",
        body: .json(.credentials),
        answers: [.json("The account and a new session.", AccountService.Entrance.self, status: 201)],
        or: [.unauthorized, .tooManyRequests])

    static let renewSession = APIOperation(
        .post, "/v1/sessions/renewal", for: .anybody, usesReserve: true,
        "renewSession", "Renews a session by its refresh token",
        body: .json(.refreshToken),
        answers: [.json("The new tokens.", Renewal.self)],
        or: [.unauthorized])

    static let logOut = APIOperation(
        .post, "/v1/sessions/end", for: .anybody, usesReserve: true,
        "logOut", "Logs out",
        body: .json(.refreshToken),
        answers: [.empty("The session has ended.")],
        or: [.unauthorized])

    static let getAccount = APIOperation(
        .get, "/v1/me/account", for: .app,
        "getAccount", "Returns the account",
        answers: [.json("The account.", AccountRecord.self)])

    static let changePassword = APIOperation(
        .put, "/v1/me/account/password", for: .app,
        "changePassword", "Changes the password",
        body: .json([
            "password": .text("The current password.", upTo: 256),
            "newPassword": .text("The new password.", upTo: 256),
        ]).described("The passwords."),
        answers: [.empty("The password is changed, and every other session has ended.")],
        or: [.refused])

    static let askForVerification = APIOperation(
        .post, "/v1/me/account/verification", for: .app,
        "askForVerification", "Sends a link to verify the account's address",
        details:
            "Only if mail is configured. A new account gets this mail automatically. `Accept-Language` selects the language of the mail.",
        answers: [.empty("The mail is queued, if one is to be sent.", status: 202)],
        or: [.conflict])

    static let changeEmail = APIOperation(
        .put, "/v1/me/account/email", for: .app,
        "changeEmail", "Sends links to change the account's address",
        details:
            "Only if mail is configured. The address changes after both addresses have confirmed. An unverified old address need not confirm. `Accept-Language` selects the language of the mails.",
        body: .json([
            "password": .text("The password.", upTo: 256),
            "email": .text("The new e-mail address.", upTo: 256),
        ]).described("The password and the new address."),
        answers: [.empty("The mail is queued, if one is to be sent.", status: 202)],
        or: [.refused])
}

extension Schema {
    static let credentials = Schema.object("An e-mail address and a password.", named: "Credentials").fields([
        "email": .text("An e-mail address.", upTo: 254),
        "password": .text("The new password: at least 8 characters, at most 256 bytes.", upTo: 256),
    ]).closed

    static let refreshToken = Schema.object("The refresh token of a session.", named: "RefreshToken").fields([
        "refreshToken": .text("The latest refresh token.", upTo: 256)
    ]).closed

    static let linkToken = Schema.object("The token of a mailed link.", named: "LinkToken").fields([
        "token": .text("The token of the link.", upTo: 256)
    ]).closed
}
