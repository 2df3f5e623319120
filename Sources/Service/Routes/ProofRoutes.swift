import Entitlements
import HTTPSupport
import Hummingbird
import Proofs

/// The route that verifies a proof without redeeming it. An invalid proof is refused with the code of its reason. A purchase token is
/// not signed, so Google Play is asked about it.
struct ProofRoutes: OperationGroup {
    static let tag = OperationTag(
        "Proofs", "Proofs of purchase verified for anybody's use.",
        [.verifyProof])
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.verifyProof) { request, context in
            let body = try await JSONBody(
                request, context, of: .verifyProof, upTo: JSONBody.sizeWithProof)
            let (proof, service) = (try body.proof("proof"), service.limited(to: context))
            if !googlePlay.isEmpty, let token = try GooglePlayToken.presented(as: proof) {
                let app = try googlePlay.app(named: token.packageName, among: service.limitingApp)
                return try ProofResource(try await app.statement(about: token.purchaseToken)).answer()
            }
            let names = try await service.tokenNames(for: proof)
            return try await BlockingWork.process(proof.count) {
                ProofResource(try service.verify(proof), named: names)
            }.answer()
        }
    }
}

package struct ProofResource: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>("The content of a valid proof.", named: "Proof") {
        $0.field("kind", "The kind of proof.", \.kind)
        $0.field("origin", "The origin of the proof.", \.origin)
        $0.field("environment", "The environment, as Apple names it.", \.environment)
        $0.field("bundleId", "The app.", \.bundleId)
        $0.field(
            "signedAt",
            .time(
                "The time of the signature, of the creation of an app receipt, or of the statement about a purchase token."
            ), \.signedAt)
        $0.field("purchases", "The purchases; absent if the proof is not of purchases.", \.purchases)
        $0.field("notification", "The content of a notification; absent for another proof.", \.notification)
    }

    package enum Kind: String, AnswerValue, CaseIterable, Codable, Sendable {
        case appReceipt, transaction, renewalInfo, notification, appTransaction, realtimeRequest, signedPurchase
        case purchaseToken
    }

    package struct Purchase: AnswerObject, Codable, Sendable {
        package static let answerFields = AnswerFields<Self>("A purchase of the proof.", named: "ProofPurchase") {
            $0.field("productId", "The product.", \.productId)
            $0.field("transactionId", "The transaction's identifier.", \.transactionId)
            $0.field("originalTransactionId", "The identifier of the original transaction.", \.originalTransactionId)
            $0.field("quantity", .integer(in: 1 ... .max), \.quantity)
            $0.field(
                "type",
                .text("The product's type, in Apple's words; absent if the proof neither states nor implies it."),
                \.type)
            $0.field("purchaseDate", .time("The time of the purchase."), \.purchaseDate)
            $0.field("expiresDate", .time("The end of the period; absent if the proof states none."), \.expiresDate)
            $0.field(
                "revocationDate", .time("The time of the refund or revocation; absent if there was none."),
                \.revocationDate)
        }

        package let productId: String
        package let transactionId: String
        package let originalTransactionId: String
        package let quantity: Int
        package let type: String?
        package let purchaseDate: String
        package let expiresDate: String?
        package var revocationDate: String?

        fileprivate init(_ purchase: ProvenPurchase, from origin: Origin) {
            productId = purchase.productIdentifier
            transactionId = origin.statedIdentifier(purchase.transactionIdentifier)
            originalTransactionId = origin.statedIdentifier(purchase.originalTransactionIdentifier)
            quantity = purchase.quantity
            type = purchase.productType?.rawValue
            purchaseDate = purchase.purchaseDate.rfc3339
            expiresDate = purchase.expiresDate?.rfc3339
            revocationDate = purchase.revocationDate?.rfc3339
        }
    }

    package struct Notification: AnswerObject, Codable, Sendable {
        package static let answerFields = AnswerFields<Self>("The content of a notification.") {
            $0.field("type", "Apple's name of the type.", \.type)
            $0.field("subtype", "Apple's name of the subtype.", \.subtype)
            $0.field("purchases", "The purchase of the signed transaction in it; empty without one.", \.purchases)
        }

        package let type: String
        package let subtype: String?
        package let purchases: [Purchase]
    }

    package let kind: Kind
    package let origin: Origin
    package let environment: AppStoreEnvironment
    package let bundleId: String?
    package let signedAt: String
    package let purchases: [Purchase]?
    package let notification: Notification?

    /// - Parameter names: The ledger's names of purchase tokens; nil for the holder of the proof, without a ledger.
    package init(_ proof: VerifiedProof, named names: PurchaseTokenNames? = nil) {
        kind =
            switch proof.content {
            case .appReceipt: .appReceipt
            case .transaction: .transaction
            case .renewalInfo: .renewalInfo
            case .notification: .notification
            case .appTransaction: .appTransaction
            case .realtimeRequest: .realtimeRequest
            case .signedPurchase: .signedPurchase
            }
        origin = proof.origin
        environment = proof.environment
        bundleId = proof.bundleIdentifier
        signedAt = proof.signedAt.rfc3339
        purchases = proof.purchases(named: names)?.map { Purchase($0, from: proof.origin) }
        notification =
            if case .notification(let content) = proof.content {
                Notification(
                    type: content.notificationType, subtype: content.subtype,
                    purchases: [proof.notifiedPurchase].compactMap(\.self).map { Purchase($0, from: proof.origin) })
            } else { nil }
    }

    init(_ statement: GooglePlayStatement) {
        kind = .purchaseToken
        origin = statement.origin
        environment = statement.origin.isSandbox ? .sandbox : .production
        bundleId = statement.packageName
        signedAt = statement.askedAt.rfc3339
        purchases = statement.purchases.map { Purchase($0.purchase, from: statement.origin) }
        notification = nil
    }
}

extension AppStoreEnvironment: AnswerValue {}
