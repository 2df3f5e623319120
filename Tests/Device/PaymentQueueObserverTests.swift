import AppStore
import HTTPSupport
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

@Suite struct PaymentQueueObserverTests {
    static let payment = Payment(productIdentifier: "sprout")

    /// A store and a service that record the calls of the device in one list.
    final class Script: StoreConnection, ServiceConnection {
        private let journal = Mutex<[String]>([])
        private let unfinished: [PaymentTransaction]
        private let updated: PaymentTransaction
        private let answer: @Sendable () throws -> Redemption

        init(
            unfinished: [PaymentTransaction] = [],
            updated: PaymentTransaction = PaymentQueueObserverTests.transaction(.finished),
            answer: @escaping @Sendable () throws -> Redemption
        ) {
            self.unfinished = unfinished
            self.updated = updated
            self.answer = answer
        }

        var calls: [String] { journal.withLock { $0 } }

        private func note(_ call: String) { journal.withLock { $0.append(call) } }

        func add(_ payment: Payment) async throws -> PaymentTransaction {
            note("add")
            return PaymentTransaction(identifier: 1, payment: payment, state: .purchasing, error: nil, purchase: nil)
        }

        func processPayments() async throws {}

        func transaction(_ identifier: Int64) async throws -> PaymentTransaction { updated }

        func unfinishedTransactions() async throws -> [PaymentTransaction] { unfinished }

        func proof(of transaction: PaymentTransaction) async throws -> Proof {
            note("proof \(transaction.identifier)")
            return .receipt("r")
        }

        func finish(_ transaction: PaymentTransaction) async throws { note("finish \(transaction.identifier)") }

        func redeem(_ proof: Proof) async throws -> Redemption {
            note("redeem")
            return try answer()
        }
    }

    private static func transaction(
        _ state: PaymentTransactionState,
        identifier: Int64 = 1
    ) -> PaymentTransaction {
        let isSold = state == .purchased || state == .restored
        return PaymentTransaction(
            identifier: identifier, payment: payment, state: state, error: state == .failed ? .paymentCancelled : nil,
            purchase: isSold
                ? .init(transactionIdentifier: "t\(identifier)", originalTransactionIdentifier: "t\(identifier)")
                : nil)
    }

    private static func redemption(_ result: Redemption.Result, transaction: String = "t1") -> Redemption {
        Redemption(
            outcome: .granted, transactions: [.init(transactionId: transaction, productId: "p", result: result)],
            items: [])
    }

    @Test func `a purchase is redeemed before it is finished`() async throws {
        let script = Script(updated: Self.transaction(.purchased)) { Self.redemption(.granted) }
        let steps = Mutex<[String]>([])
        let device = PaymentQueueObserver(store: script, service: script) { step in
            steps.withLock { $0.append(step.name) }
        }
        #expect(try await device.buy(Self.payment).state == .purchased)
        #expect(script.calls == ["add", "proof 1", "redeem", "finish 1"])
        #expect(steps.withLock { $0 } == ["paymentAdded", "purchased", "proofObtained", "redeemed", "finished"])
    }

    @Test(arguments: [Redemption.Result.alreadyRedeemed, .revoked])
    func `a transaction that the service knows is finished`(result: Redemption.Result) async throws {
        let script = Script(updated: Self.transaction(.purchased)) { Self.redemption(result) }
        _ = try await PaymentQueueObserver(store: script, service: script).buy(Self.payment)
        #expect(script.calls.last == "finish 1")
    }

    @Test(arguments: [Redemption.Result.ownedByAnotherUser, .productUnknown])
    func `a refused transaction stays in the queue`(result: Redemption.Result) async throws {
        let script = Script(updated: Self.transaction(.purchased)) { Self.redemption(result) }
        _ = try await PaymentQueueObserver(store: script, service: script).buy(Self.payment)
        #expect(script.calls.last == "redeem")
    }

    @Test func `an answer about another transaction finishes nothing`() async throws {
        let script = Script(updated: Self.transaction(.purchased)) { Self.redemption(.granted, transaction: "other") }
        _ = try await PaymentQueueObserver(store: script, service: script).buy(Self.payment)
        #expect(script.calls.last == "redeem")
    }

    private struct Unanswered: Error {}

    @Test func `nothing is finished without an answer`() async throws {
        let script = Script(updated: Self.transaction(.purchased)) { throw Unanswered() }
        await #expect(throws: Unanswered.self) {
            try await PaymentQueueObserver(store: script, service: script).buy(Self.payment)
        }
        #expect(script.calls == ["add", "proof 1", "redeem"])
    }

    @Test func `a failed transaction is finished without a proof`() async throws {
        let script = Script(updated: Self.transaction(.failed)) { Self.redemption(.granted) }
        #expect(
            try await PaymentQueueObserver(store: script, service: script).buy(Self.payment).error == .paymentCancelled)
        #expect(script.calls == ["add", "finish 1"])
    }

    @Test func `a deferred transaction stays in the queue`() async throws {
        let script = Script(updated: Self.transaction(.deferred)) { Self.redemption(.granted) }
        #expect(try await PaymentQueueObserver(store: script, service: script).buy(Self.payment).state == .deferred)
        #expect(script.calls == ["add"])
    }

    @Test func `a transaction that another launch has finished is not redeemed again`() async throws {
        let script = Script(updated: Self.transaction(.finished)) { Self.redemption(.granted) }
        #expect(try await PaymentQueueObserver(store: script, service: script).buy(Self.payment).state == .finished)
        #expect(script.calls == ["add"])
    }

    @Test(arguments: [(PaymentTransactionState.finished, false), (.purchased, true)])
    func `a refusal is not reported if another launch has finished the transaction`(
        state: PaymentTransactionState, isRefused: Bool
    ) async throws {
        let script = Script(unfinished: [Self.transaction(.purchased)], updated: Self.transaction(state)) {
            Self.redemption(.granted, transaction: "later")
        }
        let steps = Mutex<[String]>([])
        let device = PaymentQueueObserver(store: script, service: script) { step in
            steps.withLock { $0.append(step.name) }
        }
        try await device.resume()
        #expect(steps.withLock { $0.contains("refused") } == isRefused)
        #expect(script.calls.last == "redeem")
    }

    @Test func `a launch handles each unfinished transaction, also after a refusal`() async throws {
        let script = Script(
            unfinished: [
                Self.transaction(.purchased, identifier: 1), Self.transaction(.deferred, identifier: 2),
                Self.transaction(.restored, identifier: 3), Self.transaction(.failed, identifier: 4),
            ]
        ) { Self.redemption(.granted, transaction: "t3") }
        let delivered = try await PaymentQueueObserver(store: script, service: script).resume()
        #expect(delivered.map(\.identifier) == [1, 3, 4])
        #expect(script.calls == ["proof 1", "redeem", "proof 3", "redeem", "finish 3", "finish 4"])
    }
}
