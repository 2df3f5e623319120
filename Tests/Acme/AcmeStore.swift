import Entitlements
import Foundation
import Proofs

/// acme as a store of the door: a ticket proves a contract, about which the service asks, and a signed statement says all by itself.
package struct AcmeStore: RedemptionDoor.Store {
    package static let production = Origin(rawValue: "acme/Production")
    package static let test = Origin(rawValue: "acme/Test")

    private let service: EntitlementService
    private let key: PublicKey
    /// Returns the newest statement about a contract, sealed; nil for a contract that acme does not know.
    private let newest: @Sendable (String) async throws -> [UInt8]?

    package init(
        _ service: EntitlementService, trusting key: PublicKey,
        asking newest: @escaping @Sendable (String) async throws -> [UInt8]?
    ) {
        (self.service, self.key, self.newest) = (service, key, newest)
    }

    package func verify(
        _ proof: [UInt8], from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Verification {
        guard let seal = try opened(proof) else { return .foreign }
        if let ticket: AcmeTicket = seal.read() {
            _ = try origin(of: ticket.app, isTest: ticket.isTest, presenter)
            return .unstated(.init(app: ticket.app, identifier: ticket.ticketOf))
        }
        guard let statement: AcmeStatement = seal.read() else {
            throw RedemptionError.refused(ProofRefusal(.payloadInvalid))
        }
        return .stated(try purchases(of: statement, in: seal, presenter))
    }

    package func ask(
        _ question: RedemptionDoor.Question, from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Statement {
        let (statement, seal) = try await answer(about: question.identifier)
        return try purchases(of: statement, in: seal, presenter)
    }

    /// Applies the newest statement about a contract, as the service does by itself.
    package func refresh(_ contract: String) async throws -> [NotificationOutcome] {
        let (statement, seal) = try await answer(about: contract)
        return try await service.outcomes(ofStated: stated(statement, in: seal, try origin(of: statement)))
    }

    /// Applies a message of acme.
    package func receive(_ message: [UInt8]) async throws -> [NotificationOutcome] {
        guard let seal = try opened(message), let notification: AcmeNotification = seal.read() else {
            throw RedemptionError.noNotification
        }
        let (statement, origin) = (notification.statement, try origin(of: notification.statement))
        return try await service.outcomes(
            ofStated: stated(statement, in: seal, origin),
            notifiedBy: NotificationRecord(
                app: statement.app, origin: origin, notificationUUID: notification.identifier, type: notification.type,
                subtype: nil, signedAt: statement.statedAt, proofDigest: DigestAlgorithm.sha256.digest(of: message)))
    }

    private func opened(_ proof: [UInt8]) throws(RedemptionError) -> AcmeSeal? {
        do { return try AcmeSeal(proof, by: key) } catch { throw .refused(ProofRefusal(.signatureInvalid)) }
    }

    private func answer(about contract: String) async throws -> (AcmeStatement, AcmeSeal) {
        guard let answer = try await newest(contract), let seal = try opened(answer),
            let statement: AcmeStatement = seal.read()
        else { throw RedemptionError.purchaseNotOwned }
        return (statement, seal)
    }

    private func origin(of statement: AcmeStatement) throws(RedemptionError) -> Origin {
        try origin(of: statement.app, isTest: statement.isTest, .init())
    }

    private func origin(
        of app: String, isTest: Bool, _ presenter: RedemptionDoor.Presenter
    ) throws(RedemptionError) -> Origin {
        guard service.apps[app] != nil, presenter.app?.hasSameBytes(as: app) ?? true else {
            throw .refused(ProofRefusal(.bundleIdentifierMismatch))
        }
        guard let origin = isTest ? Self.test : Self.production, service.accepted.all.contains(origin) else {
            throw .refused(ProofRefusal(.originNotAccepted))
        }
        return origin
    }

    private func purchases(
        of statement: AcmeStatement, in seal: AcmeSeal, _ presenter: RedemptionDoor.Presenter
    ) throws(RedemptionError) -> RedemptionDoor.Statement {
        let origin = try origin(of: statement.app, isTest: statement.isTest, presenter)
        return .init(stated(statement, in: seal, origin))
    }

    private func stated(
        _ statement: AcmeStatement, in seal: AcmeSeal, _ origin: Origin
    ) -> EntitlementService.VerifiedPurchases {
        let digest = DigestAlgorithm.sha256.digest(of: seal.content)
        return service.purchases(
            statement.purchases(digest: digest), of: statement.app, from: origin, statedAt: statement.statedAt,
            digest: digest)
    }
}

/// The translation of acme's words into the facts that all stores have.
extension AcmeStatement {
    /// The longest grace period, in days, for one whose end acme does not state.
    private static let longestGraceDays: Int64 = 14

    /// The charges as purchases, the oldest first. The contract is the purchase, and its first charge names it.
    package func purchases(digest: [UInt8]) -> [StoredPurchase] {
        charges.map { charge in
            let isLast = charge.number == charges.last?.number
            return StoredPurchase(
                purchase(charge), renewal: isLast ? renewal(after: charge, digest: digest) : nil)
        }
    }

    private func identifier(_ number: Int) -> String { "\(contract)-\(number)" }

    private func purchase(_ charge: Charge) -> ProvenPurchase {
        let isTakenBack = charge.paidBack?.takesGoods == true
        return ProvenPurchase(
            transactionIdentifier: identifier(charge.number),
            originalTransactionIdentifier: identifier(charges.first?.number ?? charge.number),
            productIdentifier: charge.product, quantity: charge.units, purchaseDate: charge.from,
            revocationDate: isTakenBack ? charge.paidBack?.at : nil, revocationReason: isTakenBack ? 0 : nil,
            expiresDate: charge.until, appAccountToken: customer,
            facts: facts(charge))
    }

    private func facts(_ charge: Charge) -> TransactionFacts {
        func date(_ moment: Timestamp?) -> StatedValue? { moment.map { .integer($0.millisecondsSince1970) } }
        var facts = TransactionFacts()
        facts[.type] = .text(charge.kind.type.rawValue)
        let reason: TransactionReason = charge.continues ? .renewal : .purchase
        facts[.transactionReason] = .text(reason.rawValue)
        (facts[.price], facts[.currency], facts[.storefront]) = (.integer(charge.price), .text("USD"), .text("USA"))
        facts[.recurringPrice] = charge.recurring.map { .integer($0) }
        facts[.originalPurchaseDate] = date(charges.first?.from)
        (facts[.expiresDate], facts[.signedDate]) = (date(charge.until), date(statedAt))
        if charge.isReplaced { facts[.isUpgraded] = .integer(1) }
        if charge.terms != .full {
            facts[.offerType] = .integer(Int64(SubscriptionOffer.Kind.introductory.rawValue))
            let discount: OfferDiscountType = charge.terms == .trial ? .freeTrial : .payAsYouGo
            facts[.offerDiscountType] = .text(discount.rawValue)
        }
        if let paidBack = charge.paidBack {
            facts.state(StatedRefund(amount: paidBack.amount, date: paidBack.at))
        }
        return facts
    }

    private func renewal(after charge: Charge, digest: [UInt8]) -> StatedRenewal? {
        guard let next else { return nil }
        var facts = RenewalFacts()
        facts[.productId] = .text(charge.product)
        facts[.autoRenewProductId] = .text(charge.product)
        facts[.renewalDate] = charge.until.map { .integer($0.millisecondsSince1970) }
        func turnedOff(_ canceler: Canceler?, _ intent: ExpirationIntent?) {
            facts[.autoRenewStatus] = .integer(0)
            facts[.canceledBy] = canceler.map { .text($0.rawValue) }
            facts[.expirationIntent] = intent.map { .integer(Int64($0.rawValue)) }
        }
        func declined() {
            (facts[.autoRenewStatus], facts[.isInBillingRetryPeriod]) = (.integer(1), .integer(1))
            facts[.expirationIntent] = .integer(Int64(ExpirationIntent.billingError.rawValue))
        }
        switch next {
        case .renews(let product):
            (facts[.autoRenewStatus], facts[.autoRenewProductId]) = (.integer(1), .text(product))
        case .stops: turnedOff(.user, nil)
        case .grace(let until):
            declined()
            let end = until ?? charge.until?.adding(days: Self.longestGraceDays)
            facts[.gracePeriodExpiresDate] = end.map { .integer($0.millisecondsSince1970) }
        case .retry: declined()
        case .paused(let until):
            facts[.autoRenewStatus] = .integer(1)
            facts.statePause(until: until)
        case .over(.customer): turnedOff(.user, .customerCancelled)
        case .over(.bank): turnedOff(.system, .billingError)
        case .over(.price): turnedOff(nil, .customerDidNotConsentToPriceIncrease)
        }
        return StatedRenewal(statedAt: statedAt, proofDigest: digest, facts: facts)
    }
}

extension AcmeStatement.Charge.Kind {
    fileprivate var type: ProductType {
        switch self {
        case .goods: .nonConsumable
        case .credit: .consumable
        case .pass: .nonRenewingSubscription
        case .plan: .autoRenewableSubscription
        }
    }
}
