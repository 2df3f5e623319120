import Features
import HTTPSupport
import Hummingbird
import Proofs

/// Routes for mailed links: verification, password reset and change of address.
struct AccountMailRoutes: Sendable {
    let routes: AccountRoutes

    private var accounts: AccountService { routes.accounts }

    /// - Parameter group: Routes under `/v1`, without authentication, because a link may be opened on any device.
    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        let held = group.for(.anybody)
        held.post("accounts/recovery") { request, context in
            let fields = try await routes.body(of: request, context, fields: ["email"])
            let email = try EmailAddress(try fields.text("email", upTo: JSONFields.maximumCredentialLength))
            try routes.attempts.countSignUp(request, context)
            try await accounts.askForReset(of: email, in: routes.language(of: request))
            // The same answer for an address without an account, and for one that has reached its mail limit.
            return HTTPResponse.Status.accepted
        }
        held.post("accounts/password") { request, context in try await reset(request, context) }
        held.post("accounts/confirmation") { request, context in
            let token = try await token(of: request, context)
            let confirmation = try await accounts.confirm(token)
            return try JSONAnswer.response(ConfirmationResource(confirmation), headers: AccountRoutes.headers)
        }
        held.post("accounts/release") { request, context in
            try await accounts.release(try await token(of: request, context))
            return HTTPResponse.Status.noContent
        }
    }

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        let own = group.for(.app)
        own.post("account/verification") { request, context in
            let user = try context.requiredUser
            try await accounts.askForVerification(of: user, in: routes.language(of: request))
            return HTTPResponse.Status.accepted
        }
        own.put("account/email") { request, context in
            let fields = try await routes.body(of: request, context, fields: ["password", "email"])
            let password = try fields.text("password", upTo: JSONFields.maximumCredentialLength)
            let email = try EmailAddress(try fields.text("email", upTo: JSONFields.maximumCredentialLength))
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
            try fields.text("token"), try fields.text("password", upTo: JSONFields.maximumCredentialLength)
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
package struct ConfirmationResource: Codable, Sendable {
    package enum Outcome: String, Codable, Sendable {
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
