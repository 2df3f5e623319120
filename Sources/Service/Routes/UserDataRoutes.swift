import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Routes for the export and the erasure of a user's data.
struct UserDataRoutes: Sendable {
    let service: EntitlementService
    let subjects: Subjects
    let clock: any WallClock
    /// Nil if the service keeps no accounts.
    let accounts: AccountRoutes?

    /// - Parameter group: Routes under `/v1/users/:user`.
    func addForBackEnds(to group: RouterGroup<ServiceContext>) {
        // All data of a user belongs to no app, as does the erasure.
        addExport(to: group.for(.backEnd(.export)))
        group.for(.backEnd(.erase)).post("erasure") { request, context in
            try await erase(try subjects.user(request, context, ofAnyIssuer: true), context)
        }
    }

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        let own = group.for(.app, usesReserve: true)
        addExport(to: own)
        own.post("erasure") { request, context in
            let user = try context.requiredUser
            guard let accounts, user.issuer == User.accountIssuer else { return try await erase(user, context) }
            let body = try await JSONBody(request, context, fields: ["password"])
            let password = try body.text("password", upTo: JSONFields.maximumCredentialLength)
            let account = try await accounts.confirmed(password, context)
            try await accounts.accounts.erase(account, by: try context.requiredCaller.actor, at: clock.now())
            return .noContent
        }
    }

    private func addExport(to group: RouterGroup<ServiceContext>) {
        group.get("export") { request, context in
            let user = try subjects.user(request, context, ofAnyIssuer: true)
            // The names of keys are the team's.
            let isNaming = try context.requiredCaller.isBackEnd
            let json = try await UserExport(service: service, clock: clock).json(of: user, namingKeys: isNaming)
            guard let json else { throw Problem.userNotFound }
            return JSONAnswer.response(bytes: json, headers: [.cacheControl: "no-store"])
        }
    }

    private func erase(_ user: User, _ context: ServiceContext) async throws -> HTTPResponse.Status {
        guard try await service.erase(user, by: try context.requiredCaller.actor) else { throw Problem.userNotFound }
        return .noContent
    }
}
