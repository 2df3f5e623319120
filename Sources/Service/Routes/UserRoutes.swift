import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Routes for one user: redeem proofs, and read items, rights, subscriptions, transactions and the account token. A back end
/// names the user in the path. An app's user is named by its token. Both share the code.
struct UserRoutes: Sendable {
    let service: EntitlementService
    let idempotentRequests: IdempotentRequests
    let subjects: Subjects
    let metrics: ServiceMetrics

    /// - Parameter group: Routes under `/v1/users/:user`.
    func addForBackEnds(to group: RouterGroup<ServiceContext>) {
        addReading(to: group.for(.backEnd(.read), isPerApp: true))
        addRedeeming(to: group.for(.backEnd(.redeem), isPerApp: true))
        // Purchases of every app may have the token.
        group.for(.backEnd(.redeem)).put { request, context in
            try await setAccountToken(of: try subjects.user(request, context), request, context)
        }
    }

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        let own = group.for(.app, usesReserve: true)
        addReading(to: own)
        addRedeeming(to: own)
    }

    private func addReading(to group: RouterGroup<ServiceContext>) {
        group.get { request, context in
            let user = try subjects.user(request, context)
            return try await accountToken(of: user)
        }
        group.get("items") { request, context in
            let user = try subjects.user(request, context)
            let items = try await service.limited(to: context).items(of: user)
            return CacheableAnswer.response(
                JSONAnswer.encode(.object(["items": .array(items.map(\.json))])), type: "application/json",
                for: request, headers: [.cacheControl: "private, no-cache"])
        }
        group.get("rights") { request, context in
            let user = try subjects.user(request, context)
            let rights = try await service.limited(to: context).rights(
                of: user, in: try RequestedApps.name(of: request, context))
            return CacheableAnswer.response(
                JSONAnswer.encode(.object(["rights": .array(rights.filter(\.isActive).map(\.json))])),
                type: "application/json", for: request, headers: [.cacheControl: "private, no-cache"])
        }
        group.get("subscriptions") { request, context in
            let subscriptions = try await service.limited(to: context)
                .subscriptions(of: try subjects.user(request, context))
            return try JSONAnswer.response(
                UserSubscriptionList(subscriptions: subscriptions.map { UserSubscriptionResource($0) }))
        }
        group.get("transactions") { request, context in
            // The names of keys are the team's.
            let keys = try context.requiredCaller.isBackEnd ? await service.apiKeyNames() : [:]
            return try await transactions(
                of: try subjects.user(request, context), in: try RequestedApps.name(of: request, context),
                Page(request), naming: keys, service.limited(to: context))
        }
    }

    private func addRedeeming(to group: RouterGroup<ServiceContext>) {
        group.post("receipts") { request, context in
            try await redeem(
                field: "receipt", request, context, for: try subjects.user(request, context))
        }
        group.post("transactions") { request, context in
            try await redeem(
                field: "signedTransaction", request, context, for: try subjects.user(request, context))
        }
    }

    private func redeem(
        field: String,
        _ request: Request,
        _ context: ServiceContext,
        for user: User
    ) async throws -> Response {
        let (caller, service) = (try context.requiredCaller, service.limited(to: context))
        let newcomers = context.newcomers(for: request)
        let body = try await JSONBody(
            request, context, fields: [field], upTo: JSONBody.sizeWithProof)
        let proof = try body.proof(field)
        return try await idempotentRequests.answer(
            request, from: caller, about: user, body: body.bytes, admits: { try $0.admits($1, about: $2, newcomers) }
        ) { pending in
            do {
                let purchases = try await BlockingWork.process(proof.count) {
                    try service.purchases(in: proof, of: caller.app)
                }
                let keeping = pending.map { pending in
                    service.keeping(pending.key) { answer in
                        (try? service.redemption(of: purchases, answered: answer)).map {
                            pending.answer(JSONAnswer.encode($0.json))
                        }
                    }
                }
                let answer = try await service.answer(
                    try service.request(
                        purchases, for: user, by: caller.actor, keeping: keeping, newcomers: newcomers))
                if case .kept(let earlier) = answer { return .replayed(earlier) }
                let redemption = try service.redemption(of: purchases, answered: answer)
                metrics.countRedemption(redemption.outcome.rawValue)
                let json = JSONAnswer.encode(redemption.json)
                return pending.map { .kept($0.answer(json)) } ?? .new(json)
            } catch {
                metrics.countRedemption("refused", code: Problem.code(of: error))
                // The client gets the refusal even if it cannot be recorded.
                try? await service.recordRefusal(error, for: user, by: caller.actor, newcomers: newcomers) {
                    (try? await BlockingWork.process(proof.count) { service.claims(ofAuthentic: proof) }) ?? []
                }
                throw error
            }
        }
    }

    /// - Parameter keys: The names of API keys by their identifiers.
    private func transactions(
        of user: User,
        in app: String?,
        _ page: Page,
        naming keys: [String: String],
        _ service: EntitlementService
    ) async throws -> Response {
        try await page.answer(
            { before, limit in
                try await service.transactions(of: user, in: app, before: before, limit: limit)
            }, number: \.sequence
        ) { TransactionList(transactions: $0.map { TransactionResource($0, naming: keys) }, nextCursor: $1) }
    }

    private func accountToken(of user: User) async throws -> Response {
        try JSONAnswer.response(
            AppAccountTokenResource(try await service.appAccountToken(of: user)))
    }

    private func setAccountToken(
        of user: User,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> Response {
        let body = try await JSONBody(request, context, fields: ["appAccountToken", "isCorrection"])
        guard let token = UUID(uuidString: try body.text("appAccountToken")), !token.isPlaceholder else {
            throw JSONBody.invalid("The field /appAccountToken must be a UUID of the user's own, not of zeros.")
        }
        switch try await service.setAppAccountToken(
            token, of: user, isCorrection: try body.flag("isCorrection"))
        {
        case .set: return try JSONAnswer.response(AppAccountTokenResource(token))
        case .hasAnother:
            throw Problem(
                status: .conflict, code: "appAccountTokenSet",
                detail:
                    "The user has another account token, which purchases may contain. Read that token and use it, or add "
                    + "\"isCorrection\": true.")
        case .ofAnotherUser:
            throw Problem(
                status: .conflict, code: "appAccountTokenTaken",
                detail:
                    "Another user has this account token. Create a new UUID for each user, or add \"isCorrection\": true "
                    + "to take it from that user.")
        }
    }
}
