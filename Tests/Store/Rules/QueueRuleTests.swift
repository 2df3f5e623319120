import AppStore
import Catalog
import HTTPSupport
import Proofs
import Testing

/// The outcome and the steps of a payment, and the purchases that the queue delivers again.
@Suite struct QueueRuleTests {
    enum Setting {
        case none, askToBuy, interrupted, failing, everything
    }

    @Test(
        arguments: [
            (.purchased, .none, .purchased), (.purchased, .askToBuy, .deferred),
            (.purchased, .interrupted, .interrupted), (.purchased, .failing, .failed(.paymentNotAllowed)),
            (.purchased, .everything, .failed(.paymentNotAllowed)),
            // The requested outcome takes precedence.
            (.deferred, .everything, .deferred), (.interrupted, .askToBuy, .interrupted),
            (.failed(.paymentCancelled), .everything, .failed(.paymentCancelled)),
        ] as [(PaymentOutcome, Setting, PaymentOutcome)])
    func `the settings decide about payments that would be purchased`(
        requested: PaymentOutcome,
        setting: Setting,
        expected: PaymentOutcome
    ) throws {
        let file = #"{"products":[],"settings":{}}"#
        var settings = StoreSettings(try StoreKitConfiguration(json: Array(file.utf8), file: "f"))
        settings.isAskToBuyEnabled = [.askToBuy, .everything].contains(setting)
        settings.areInterruptedPurchasesEnabled = [.interrupted, .everything].contains(setting)
        settings.failureError =
            [.failing, .everything].contains(setting) ? SKErrorCode.paymentNotAllowed.rawValue : nil
        #expect(requested.applying(settings) == expected)
    }

    @Test(
        arguments: [
            (PaymentStep(.purchased), .purchasing, .purchased, nil),
            (PaymentStep(.deferred), .purchasing, .deferred, nil),
            (PaymentStep(.interrupted), .purchasing, .failed, .unknown),
            (PaymentStep(.failed(.paymentInvalid)), .purchasing, .failed, .paymentInvalid),
            (.approve, .deferred, .purchased, nil), (.decline, .deferred, .failed, .paymentCancelled),
            (.finish, .purchased, .finished, nil), (.finish, .restored, .finished, nil),
            // A sale that fails.
            (PaymentStep(.purchased).afterFailedSale(.ineligibleForOffer), .purchasing, .failed, .ineligibleForOffer),
            (
                PaymentStep.approve.afterFailedSale(.storeProductNotAvailable), .deferred, .failed,
                .storeProductNotAvailable
            ),
        ] as [(PaymentStep, PaymentTransactionState, PaymentTransactionState, SKErrorCode?)])
    func `a step takes a transaction to a state, and maybe an error`(
        step: PaymentStep,
        before: PaymentTransactionState,
        after: PaymentTransactionState,
        error: SKErrorCode?
    ) throws {
        let changed = try Self.queued(in: before).after(step)
        #expect(changed.state == after)
        #expect(changed.error == error)
    }

    @Test(
        arguments: [
            (.approve, .purchased), (.approve, .failed), (.decline, .purchasing),
            (.finish, .deferred), (.finish, .finished), (PaymentStep(.purchased), .deferred),
        ] as [(PaymentStep, PaymentTransactionState)])
    func `a step is refused in other states`(step: PaymentStep, state: PaymentTransactionState) {
        #expect(throws: IllegalPaymentTransition(state: state, event: step.event)) {
            try Self.queued(in: state).after(step)
        }
    }

    @Test func `a failed transaction keeps its error when it is finished`() throws {
        let failed = Self.queued(in: .failed, error: .paymentCancelled)
        #expect(try failed.after(.finish).error == .paymentCancelled)
    }

    @Test func `only an interrupted payment that has failed is completed`() {
        let failed = Self.queued(in: .failed, error: .unknown)
        #expect(PaymentOutcome.interrupted.isResolvable(failed))
        #expect(!PaymentOutcome.failed(.unknown).isResolvable(failed))
        #expect(!PaymentOutcome.interrupted.isResolvable(Self.queued(in: .purchasing)))
    }

    /// The purchases of an account: the gate (1, bought again as 2), a subscription (3, renewed as 4), seeds (5), a
    /// season (6) and a refunded fence (7).
    private static let history = [
        RuleFixture.transaction("1"), RuleFixture.transaction("2", original: "1"),
        RuleFixture.transaction("3", of: "basic.monthly", type: .autoRenewableSubscription),
        RuleFixture.transaction("4", original: "3", of: "basic.monthly", type: .autoRenewableSubscription),
        RuleFixture.transaction("5", of: "seeds", type: .consumable),
        RuleFixture.transaction("6", of: "season", type: .nonRenewingSubscription),
        RuleFixture.transaction("7", of: "fence", revoked: .refundFull),
    ]

    @Test(
        arguments: [
            // The gate, and the latest period of the subscription.
            ([], ["1", "4"]), ([queued(in: .finished, purchase: "1")], ["1", "4"]),
            ([queued(in: .deferred)], ["1", "4"]),
            // The app has an unfinished transaction of it.
            ([queued(in: .purchased, purchase: "1")], ["4"]),
            ([queued(in: .restored, purchase: "1"), queued(in: .purchased, purchase: "3")], []),
        ] as [([PaymentTransaction], [String])])
    func `each purchase that lasts is restored once`(queue: [PaymentTransaction], expected: [String]) {
        let restored = Restoration.transactions(of: Self.history, queue: queue)
        #expect(restored.map(\.transactionIdentifier) == expected)
    }

    @Test func `a receipt has what lasts and what is not finished`() {
        let queue = [Self.queued(in: .purchased, purchase: "5"), Self.queued(in: .finished, purchase: "1")]
        let unfinished = ReceiptContents.unfinished(in: queue)
        #expect(unfinished == ["5"])
        func receipt(_ unfinished: Set<String>) -> [String] {
            ReceiptContents.transactions(of: Self.history, unfinished: unfinished).map(\.transactionIdentifier)
        }
        #expect(receipt([]) == ["2", "3", "4", "6", "7"])
        #expect(receipt(["1", "5"]) == ["1", "2", "3", "4", "5", "6", "7"])
    }

    private static func queued(
        in state: PaymentTransactionState,
        error: SKErrorCode? = nil,
        purchase identifier: String? = nil
    ) -> PaymentTransaction {
        PaymentTransaction(
            identifier: 1, payment: Payment(productIdentifier: "garden.gate"), state: state, error: error,
            purchase: identifier.map {
                PaymentTransaction.Purchase(transactionIdentifier: $0, originalTransactionIdentifier: $0)
            })
    }
}
