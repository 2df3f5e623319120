import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs

extension APIOperation {
    static let chooseRetentionMessage = APIOperation(
        .post, "/v1/retention/apple", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "chooseRetentionMessage", "Chooses the message that a customer sees who may cancel a subscription",
        details:
            "The App Store asks, with a signed question, and `RetentionRules.json` answers within `retention-milliseconds`. An answer without a part leaves the App Store's default message.",
        body: .json(
            .object("A question.").fields(["signedPayload": .text("The question as the App Store signs it (JWS).")])),
        answers: [.json("The choice.", RealtimeResponseBody.self)],
        or: [.refused])
}

/// The answer to a question for a retention message, with one part or none (Retention Messaging API, `RealtimeResponseBody`).
///
/// "If your server response fails for any reason, the system displays a default retention message that you configure in advance"
/// (Retention Messaging API, "Responding to real-time retention messaging requests"). An answer without a part is one in which nothing is
/// chosen, so the same follows.
///
/// A class because of its width (`CompilerBugTests`).
final class RealtimeResponseBody: AnswerObject, Sendable {
    static let answerFields = AnswerFields<RealtimeResponseBody>(
        "The choice of a retention message: one part, or none for the default message.", named: "RealtimeResponseBody"
    ) {
        $0.field("message", "A message alone.", \.message)
        $0.field("alternateProduct", "A message with another product of the group.", \.alternateProduct)
        $0.field("promotionalOffer", "A message with an offer.", \.promotionalOffer)
        $0.field("advancedCommerceInfo", "A message with a change of described items.", \.advancedCommerceInfo)
    }

    struct Message: AnswerObject {
        static let answerFields = AnswerFields<Self>("A message alone.") {
            $0.field("messageIdentifier", "The uploaded message.", \.messageIdentifier)
        }

        let messageIdentifier: UUID
    }

    struct AlternateProduct: AnswerObject {
        static let answerFields = AnswerFields<Self>("A message with another product of the group.") {
            $0.field("messageIdentifier", "The uploaded message.", \.messageIdentifier)
            $0.field("productId", "The product.", \.productId)
            $0.field("billingPlanType", "Its billing plan; absent for any.", \.billingPlanType)
        }

        let messageIdentifier: UUID
        let productId: String
        let billingPlanType: String?
    }

    struct PromotionalOffer: AnswerObject {
        static let answerFields = AnswerFields<Self>("A message with an offer.") {
            $0.field("messageIdentifier", "The uploaded message.", \.messageIdentifier)
            $0.field(
                "promotionalOfferSignatureV2",
                "The offer for this customer, signed with the In-App Purchase key (JWS).",
                \.promotionalOfferSignatureV2)
        }

        let messageIdentifier: UUID
        let promotionalOfferSignatureV2: String
    }

    struct AdvancedCommerceInfo: AnswerObject {
        static let answerFields = AnswerFields<Self>("A message with a change of described items.") {
            $0.field("messageIdentifier", "The uploaded message.", \.messageIdentifier)
            $0.field(
                "advancedCommerceData", "The signed request to change the subscription, in base64.",
                \.advancedCommerceData)
        }

        let messageIdentifier: UUID
        let advancedCommerceData: String
    }

    let message: Message?
    let alternateProduct: AlternateProduct?
    let promotionalOffer: PromotionalOffer?
    let advancedCommerceInfo: AdvancedCommerceInfo?

    private init(
        message: Message? = nil, alternateProduct: AlternateProduct? = nil, promotionalOffer: PromotionalOffer? = nil,
        advancedCommerceInfo: AdvancedCommerceInfo? = nil
    ) {
        (self.message, self.alternateProduct) = (message, alternateProduct)
        (self.promotionalOffer, self.advancedCommerceInfo) = (promotionalOffer, advancedCommerceInfo)
    }
}

/// The route on which the App Store asks for a retention message while the customer waits.
///
/// The App Store presents no key. The route trusts only the signature.
struct RetentionRoutes: OperationGroup {
    static let tag = OperationTag(
        "Retention messages", "The address at which the App Store asks for a message to a customer who may cancel.",
        [.chooseRetentionMessage])
    let parts: ServiceParts

    /// The largest question read, in bytes: Apple's have about 6 KB.
    private static let maximumSize = 32 * 1024

    /// The reason why nothing is chosen.
    private enum Reason: String {
        case noRules, noRuleMatches, dryRun, keyMissing
        /// The ledger has not told in time, or at all, what a rule depends on.
        case ledgerLate, ledgerFailed
    }

    private typealias Choice = (choice: RetentionAnswer, rule: String?, reason: Reason?)

    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        group.on(.chooseRetentionMessage) { request, context in
            let start = ContinuousClock.now
            do {
                let body = try await RequestBytes.collect(request, context, upTo: Self.maximumSize)
                let question = try await verified(body, from: context.clientNetwork(of: request)) { [service] in
                    try service.retentionQuestion(in: $0)
                }
                let (choice, rule, reason) = try await choice(for: question, since: start, context.logger)
                let answer = try RealtimeResponseBody(
                    choice, for: question, signedBy: key(of: question.app), at: clock.now())
                metrics.count(.retentionAnswers, choice.name, code: reason?.rawValue ?? "")
                // Neither the customer's transaction nor the locale, which tell of a person.
                context.logger.info(
                    "retention message",
                    metadata: [
                        "answer": "\(choice.name)", "rule": "\(rule ?? "-")", "reason": "\(reason?.rawValue ?? "-")",
                        "product": "\(question.content.productId.prefix(256))",
                        "milliseconds": "\(Int64((ContinuousClock.now - start) / .milliseconds(1)))",
                    ])
                return try answer.answer()
            } catch {
                metrics.count(.retentionAnswers, "refused", code: Problem.code(of: error))
                throw error
            }
        }
    }

    private var metrics: ServiceMetrics { settings.metrics }

    private func key(of app: App) -> AppStoreServerKey? {
        stores.appStores.first { $0.app.bundleIdentifier.hasSameBytes(as: app.bundleIdentifier) }?.client.key
    }

    private func choice(
        for question: RetentionQuestion, since start: ContinuousClock.Instant, _ logger: Logger
    ) async throws -> Choice {
        let catalog = question.app.catalog
        guard let rules = catalog.retentionRules else { return (.defaultMessage, nil, .noRules) }
        var (decision, missing) = (rules.decision(about: question.facts(nil), in: catalog), Reason.ledgerLate)
        // The ledger is asked only if a rule depends on it.
        if case .undecided = decision {
            do {
                if let ownership = try await ownership(of: question, since: start) {
                    decision = rules.decision(about: question.facts(ownership), in: catalog)
                }
            } catch {
                logger.error("retention message without the ledger", metadata: ["error": "\(Problem.code(of: error))"])
                missing = .ledgerFailed
            }
        }
        switch decision {
        case .undecided(let rule): return (.defaultMessage, rule, missing)
        case .unmatched: return (.defaultMessage, nil, .noRuleMatches)
        case .chosen(_, let rule) where rules.isDryRun: return (.defaultMessage, rule, .dryRun)
        case .chosen(let choice, let rule) where choice.needsKey && key(of: question.app) == nil:
            return (.defaultMessage, rule, .keyMissing)
        case .chosen(let choice, let rule): return (choice, rule, nil)
        }
    }

    /// The facts of the ledger; nil if it has not told them in time.
    private func ownership(
        of question: RetentionQuestion, since start: ContinuousClock.Instant
    ) async throws -> RetentionFacts.Ownership? {
        let left = settings.retentionTime - (ContinuousClock.now - start)
        guard left > .zero else { return nil }
        return try await BlockingWork.run(waitingUpTo: left) { [service] in
            try await service.retentionOwnership(of: question)
        }
    }
}

extension RealtimeResponseBody {
    /// - Parameter key: The key of the team. A choice that is signed needs it.
    convenience init(
        _ choice: RetentionAnswer, for question: RetentionQuestion, signedBy key: AppStoreServerKey?,
        at moment: Timestamp
    ) throws {
        switch choice {
        case .defaultMessage: self.init()
        case .message(let message): self.init(message: Message(messageIdentifier: message))
        case .alternateProduct(let message, let product, let plan):
            self.init(
                alternateProduct: AlternateProduct(
                    messageIdentifier: message, productId: product, billingPlanType: plan?.rawValue))
        case .promotionalOffer(let message, let offer, let product):
            guard let key else { throw BrokenInvariant("an offer is chosen only with a key", offer) }
            // "The transactionId parameter of the signature is required. Use the originalTransactionId you receive"
            // (Retention Messaging API, `promotionalOfferSignatureV2`).
            let signed = try key.sign(
                [
                    "offerIdentifier": .string(offer), "productId": .string(product ?? question.content.productId),
                    "transactionId": .string(question.content.originalTransactionId),
                ], for: "promotional-offer", at: moment)
            self.init(
                promotionalOffer: PromotionalOffer(messageIdentifier: message, promotionalOfferSignatureV2: signed))
        case .advancedCommerceInfo(let message, let request):
            guard let key else {
                throw BrokenInvariant("a change is chosen only with a key", question.content.productId)
            }
            self.init(
                advancedCommerceInfo: AdvancedCommerceInfo(
                    messageIdentifier: message,
                    advancedCommerceData: try Self.data(of: request, for: question, signedBy: key, at: moment)))
        }
    }

    /// The signed request to change a subscription (StoreKit, "Sending Advanced Commerce API requests from your app",
    /// `advancedCommerceRequestData`).
    private static func data(
        of change: JSONObject, for question: RetentionQuestion, signedBy key: AppStoreServerKey, at moment: Timestamp
    ) throws -> String {
        var request = change
        let reference = JSONValue.string(UUID().uuidString.lowercased())
        for (name, value) in [
            ("operation", "MODIFY_SUBSCRIPTION"), ("version", "1"),
            ("transactionId", .string(question.content.originalTransactionId)),
            ("requestInfo", .object(["requestReferenceId": reference])),
        ] as [(String, JSONValue)] { _ = request.add(name, value) }
        let signed = try key.sign(
            ["request": .string(Base64.encode(JSONValue.object(request).compactBytes))], for: "advanced-commerce-api",
            at: moment)
        let data = JSONValue.object(["signatureInfo": .object(["token": .string(signed)])])
        return Base64.encode(data.compactBytes)
    }
}
