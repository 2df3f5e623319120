import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// An endpoint of the Advanced Commerce API for a developer's server. The raw value is the last word of its path.
enum AdvancedCommerceOperation: String, Sendable, CaseIterable {
    case cancel, changeMetadata, changePrice, migrate, revoke, requestRefund

    var path: String {
        let object = self == .requestRefund ? "transaction" : "subscription"
        return "/advancedCommerce/v1/\(object)/\(rawValue)"
    }

    /// The store action that does the same.
    var action: StoreAction.Kind {
        switch self {
        case .cancel: .cancel
        case .revoke: .revoke
        case .requestRefund: .refund
        case .changeMetadata: .changeMetadata
        case .changePrice: .changePrice
        case .migrate: .migrate
        }
    }

    /// The request of a store action; nil for another endpoint.
    init?(_ action: StoreAction) {
        guard action.kind.rule.endpoint(at: action.key.origin.store)?.isOfDescribed == true,
            let operation = Self.allCases.first(where: { $0.action == action.kind })
        else { return nil }
        self = operation
    }

    /// Apple's request with its identifier.
    func request(_ content: JSONObject, identifiedBy identifier: String) -> JSONObject {
        var information = JSONObject()
        if case .object(let given)? = content["requestInfo"] { information = given }
        _ = information.add("requestReferenceId", .string(identifier))
        var complete = JSONObject()
        for member in content.members where member.key != "requestInfo" { _ = complete.add(member.key, member.value) }
        _ = complete.add("requestInfo", .object(information))
        return complete
    }
}

extension APIOperation {
    static let requestAdvancedCommerce = APIOperation(
        .post, "/v1/transactions/{transaction}/advanced-commerce/{operation}", for: .backEnd(.stores), isPerApp: true,
        "requestAdvancedCommerce",
        "Changes a purchase that your server has described, by Apple's Advanced Commerce API",
        details:
            "The App Store is asked at once, and its notification changes what the user owns. Its refusal is the answer. The request and its outcome are in the user's audit log.",
        parameters: [
            .path(
                "transaction", "A redeemed transaction. A refund is of this transaction, all else of its subscription.",
                .text(length: 1...256), example: "2000000000000001"),
            .path(
                "operation", "The last word of Apple's path.", .one(of: AdvancedCommerceOperation.self),
                example: "cancel"), .origin, .app,
        ],
        body: .json([
            "request": .anyObject.described(
                "Apple's request, such as `SubscriptionPriceChangeRequest`. The service adds a `requestInfo` that it lacks, except for `requestRefund`."
            ).example(.object(["storefront": "USA"])),
            "reason": .text("The reason, in the team's own words.", length: 1...Reason.maximumLength),
        ]).described("The request and the reason."),
        answers: [.json("The App Store has accepted the request.", AdvancedCommerceAnswer.self)],
        or: [.conflict, .refused, .badGateway])
}

/// The reasons for which a request of the Advanced Commerce API fails, besides those of `ReconciliationError`.
enum AdvancedCommerceRefusal: RuledError, Equatable {
    /// The service cannot ask the App Store of the purchase.
    case keyMissing
    /// The operator has a second person approve the action.
    case approvalNeeded(StoreAction.Kind)
    /// Apple's number of its error.
    case refused(Int64)

    var rule: ErrorRule {
        switch self {
        case .keyMissing:
            ErrorRule(
                "commerceKeyMissing", .unprocessable, isOfOperator: true,
                "The service has no key for the App Store that has sold the purchase. Set `app-store-key`.",
                korean: "이 구매를 판매한 App Store의 키가 없습니다. `app-store-key`를 설정하세요.")
        case .approvalNeeded(let action):
            ErrorRule(
                "commerceApprovalNeeded", .unprocessable, isOfOperator: true,
                "A second person must approve \"\(action.rawValue)\" (`store-action-approval`). Ask for it with `PUT /v1/store-actions/{action}` and the field `request`, or with `till actions request`.",
                korean:
                    "\(action.rawValue) 작업은 승인이 필요합니다. request 필드와 함께 PUT /v1/store-actions/{action}이나 till actions request로 요청하세요."
            )
        case .refused(let number):
            ErrorRule(
                "commerceRefused", .unprocessable,
                "The App Store refuses the request with \(number). Look the number up in Apple's \"Error messages and codes\" of the Advanced Commerce API.",
                korean: "App Store가 요청을 거절했습니다(\(number)). Advanced Commerce API의 오류 코드에서 번호를 찾으세요.")
        }
    }
}

struct AdvancedCommerceAnswer: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "The App Store's answer to a request of the Advanced Commerce API.", named: "AdvancedCommerceAnswer"
    ) {
        $0.field("requestReferenceId", "The identifier of the request.", \.requestReferenceId)
        $0.field("signedTransactionInfo", "The transaction as the App Store states it now, a JWS.", \.transaction)
        $0.field(
            "signedRenewalInfo", "The renewal as the App Store states it now, a JWS; absent for a one-time charge.",
            \.renewal)
    }

    let requestReferenceId: String
    let transaction: String
    let renewal: String?
}

/// The route by which a back end changes what it has described (Advanced Commerce API). The bodies are Apple's, and Apple judges them.
struct AdvancedCommerceRoutes: OperationGroup {
    static let tag = OperationTag(
        "Advanced Commerce", "Purchases that your server has described, changed at the App Store.",
        [.requestAdvancedCommerce])
    static let errors: [any RuledError] = []
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.requestAdvancedCommerce) { request, context in
            let purchase = try NamedPurchase(request, context)
            let body = try await JSONBody(request, context, of: .requestAdvancedCommerce)
            guard case .object(let content)? = body.object["request"] else {
                throw JSONBody.invalid("The field /request must be an object with Apple's request.")
            }
            guard let operation = AdvancedCommerceOperation(rawValue: try context.parameters.text("operation")) else {
                throw Problem.pathUnknown
            }
            if till.storeActions.approved.contains(operation.action) {
                throw AdvancedCommerceRefusal.approvalNeeded(operation.action)
            }
            let change = try AdvancedCommerceChange(
                operation, of: purchase, content, reason: Reason.read(body), by: context.requiredCaller.name)
            return try await change.perform(by: service.limited(to: context), asking: stores.appStores).answer()
        }
    }
}

/// A request of a back end to the Advanced Commerce API.
private struct AdvancedCommerceChange: Sendable {
    private let operation: AdvancedCommerceOperation
    private let purchase: NamedPurchase
    private let content: JSONObject
    private let reference: String
    private let reason: String
    private let caller: String

    /// - Throws: `Problem` for a `requestInfo` without a UUID. It finds the request in the audit log, and Apple takes it once.
    init(
        _ operation: AdvancedCommerceOperation, of purchase: NamedPurchase, _ content: JSONObject, reason: String,
        by caller: String
    ) throws(Problem) {
        (self.operation, self.purchase, self.reason, self.caller) = (operation, purchase, reason, caller)
        guard let information = content["requestInfo"] else {
            // Apple takes an identifier once, and a part of the money could be paid back with each new one.
            guard operation != .requestRefund else {
                throw JSONBody.invalid(
                    "The field /request must have a requestInfo with a UUID as its requestReferenceId. A request that is sent again with the same one pays nothing twice."
                )
            }
            reference = UUID().uuidString.lowercased()
            var complete = content
            _ = complete.add("requestInfo", .object(["requestReferenceId": .string(reference)]))
            self.content = complete
            return
        }
        guard case .object(let information) = information, let text = information.text("requestReferenceId"),
            UUID(uuidString: text) != nil
        else { throw JSONBody.invalid("The field /request/requestInfo must have a UUID as its requestReferenceId.") }
        (reference, self.content) = (text, content)
    }

    /// Asks the App Store, and records the request before and the outcome after it.
    func perform(by service: EntitlementService, asking appStores: [Reconciler]) async throws -> AdvancedCommerceAnswer
    {
        let (owner, transaction) = try await sold(by: service)
        guard
            let appStore = appStores.first(where: {
                $0.origins.contains(transaction.origin)
                    && transaction.app?.hasSameBytes(as: $0.app.bundleIdentifier) ?? false
            })
        else { throw AdvancedCommerceRefusal.keyMissing }
        try await record("requested: \(reason)", about: transaction, of: owner, service)
        let answer: AppStoreServerClient.CommerceAnswer
        do {
            answer = try await appStore.client.advancedCommerce(
                operation.path, of: transaction.transactionIdentifier, content)
        } catch {
            guard case .refused(let status, let number?) = error, [400, 403, 404].contains(status) else {
                // Nobody knows if the App Store has accepted a request that it did not answer.
                try await record("not answered: \(error.code)", about: transaction, of: owner, service)
                throw error
            }
            try await record("refused: \(number)", about: transaction, of: owner, service)
            throw AdvancedCommerceRefusal.refused(number)
        }
        try await record("accepted", about: transaction, of: owner, service)
        for signed in [answer.signedTransactionInfo, answer.signedRenewalInfo].compactMap(\.self) {
            try await service.checkAnswer(signed, from: transaction.origin, of: transaction.app)
        }
        return AdvancedCommerceAnswer(
            requestReferenceId: reference, transaction: answer.signedTransactionInfo,
            renewal: answer.signedRenewalInfo)
    }

    /// The named transaction with its owner.
    ///
    /// - Throws: `GrantError` for a transaction that nobody has redeemed, or that several origins have.
    private func sold(by service: EntitlementService) async throws -> (User, RedeemedTransaction) {
        let found = try await service.purchases(ofTransaction: purchase.identifier).flatMap { known in
            known.transactions.compactMap { transaction in known.owner.map { ($0, transaction) } }
        }.filter { _, transaction in
            transaction.transactionIdentifier.hasSameBytes(as: purchase.identifier)
                && transaction.origin.store == .appStore && [nil, transaction.origin].contains(purchase.origin)
                && purchase.app.map { $0.hasSameBytes(as: transaction.app ?? "") } ?? true
        }
        guard let first = found.first else { throw GrantError.transactionNotFound }
        guard found.count == 1 else { throw GrantError.transactionAmbiguous }
        return first
    }

    private func record(
        _ outcome: String, about transaction: RedeemedTransaction, of owner: User, _ service: EntitlementService
    ) async throws {
        let entry = AuditEntry(
            happenedAt: service.clock.now(), event: .commerceRequested, actor: AuditActor(caller: caller),
            origin: transaction.origin, app: transaction.app, reference: transaction.transactionIdentifier,
            subject: transaction.productIdentifier, reason: "\(operation.rawValue) \(reference) \(outcome)")
        try await service.ledger.write { ledger in
            guard let user = try ledger.users.known(owner) else { throw GrantError.transactionNotFound }
            try ledger.audit.append(entry, to: user)
        }
    }
}

extension EntitlementService {
    /// Verifies a signed part of an answer of the App Store.
    ///
    /// - Throws: `ReconciliationError`.
    func checkAnswer(_ signed: String, from origin: Origin, of app: String?) async throws {
        do {
            let bytes = Array(signed.utf8)
            let proof = try await BlockingWork.process(bytes.count) { try verify(bytes, of: app) }
            guard proof.origin == origin else { throw ReconciliationError.answerInvalid }
        } catch let error as RedemptionError {
            throw ReconciliationError.refusedByService(code: error.code)
        }
    }
}
