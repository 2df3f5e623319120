import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

@Suite struct PaymentQueueTests {
    let shop: TestShop
    var store: Store { shop.store }

    static let sprout1 = Payment(productIdentifier: "com.memolease.sesac1.sprout1")

    init() throws {
        shop = try TestShop()
    }

    private func buy(_ payment: Payment = sprout1, account: String = "alice") throws -> PaymentTransaction {
        let added = try store.add(payment, account: account)
        let changed = try store.process(account: account)
        return try #require(changed.first { $0.identifier == added.identifier })
    }

    @Test func `a payment is purchasing, then purchased`() throws {
        let added = try store.add(Self.sprout1, account: "alice")
        #expect(added.state == .purchasing)
        #expect(added.purchase == nil)
        let bought = try #require(try store.process(account: "alice").first)
        #expect(bought.state == .purchased)
        let purchase = try #require(bought.purchase)
        #expect(purchase.transactionIdentifier == purchase.originalTransactionIdentifier)
        let sold = try store.sale(purchase.transactionIdentifier)
        #expect(sold.price == Price(milliunits: 1_200_000, currency: "KRW"))
        #expect(sold.purchaseDate == shop.clock.now())
        #expect(try store.process(account: "alice") == [])
        let finished = try store.finish(bought.identifier, account: "alice")
        #expect(finished.state == .finished)
        #expect(finished.purchase == purchase)
    }

    @Test(arguments: SKErrorCode.allCases)
    func `a payment fails with the requested error`(error: SKErrorCode) throws {
        let outcome = try #require(PaymentOutcome(name: error.name))
        _ = try store.add(Self.sprout1, account: "alice", outcome: outcome)
        let failed = try #require(try store.process(account: "alice").first)
        #expect(failed.state == .failed)
        #expect(failed.error == error)
        #expect(failed.purchase == nil)
        #expect(try store.finish(failed.identifier, account: "alice").state == .finished)
    }

    @Test(arguments: [
        ("cancelled", SKErrorCode.paymentCancelled), ("notAllowed", .paymentNotAllowed),
        ("notAvailable", .storeProductNotAvailable),
    ])
    func `common failures have short names`(name: String, error: SKErrorCode) {
        #expect(PaymentOutcome(name: name) == .failed(error))
    }

    @Test func `a deferred payment is approved`() throws {
        _ = try store.add(Self.sprout1, account: "alice", outcome: .deferred)
        let deferred = try #require(try store.process(account: "alice").first)
        #expect(deferred.state == .deferred)
        #expect(throws: StoreError.self) { try store.finish(deferred.identifier, account: "alice") }
        #expect(try store.approve(deferred.identifier).transaction.state == .purchased)
        #expect(throws: StoreError.illegalTransition(.init(state: .purchased, event: .approve))) {
            try store.approve(deferred.identifier)
        }
    }

    @Test func `a deferred payment is declined`() throws {
        _ = try store.add(Self.sprout1, account: "alice", outcome: .deferred)
        let deferred = try #require(try store.process(account: "alice").first)
        let declined = try store.decline(deferred.identifier)
        #expect(declined.account == "alice")
        #expect(declined.transaction.state == .failed)
        #expect(declined.transaction.error == .paymentCancelled)
    }

    @Test func `a repeated purchase costs nothing and refers to the first`() throws {
        func buyOnce() throws -> Transaction {
            try store.sale(try #require(try buy().purchase).transactionIdentifier)
        }
        let first = try buyOnce()
        shop.clock.advance(milliseconds: 1000)
        let second = try buyOnce()
        #expect(second.transactionIdentifier != first.transactionIdentifier)
        #expect(second.originalTransactionIdentifier == first.transactionIdentifier)
        #expect(second.originalPurchaseDate == first.purchaseDate)
        #expect(second.price.milliunits == 0)
        let bobs = try #require(try buy(account: "bob").purchase)
        #expect(bobs.originalTransactionIdentifier == bobs.transactionIdentifier)
    }

    @Test func `a restoration adds transactions for finished purchases`() throws {
        let bought = try buy()
        _ = try buy(Payment(productIdentifier: "com.memolease.sesac1.background1"))
        try store.restoreCompletedTransactions(account: "alice")
        #expect(try store.transactions(account: "alice").count == 2)
        _ = try store.finish(bought.identifier, account: "alice")
        try store.restoreCompletedTransactions(account: "alice")
        let restored = try #require(try store.transactions(account: "alice").last).transaction
        #expect(restored.state == .restored)
        #expect(restored.payment == Self.sprout1)
        #expect(restored.purchase?.originalTransactionIdentifier == bought.purchase?.transactionIdentifier)
        try store.restoreCompletedTransactions(account: "alice")
        #expect(try store.transactions(account: "alice").count == 3)
    }

    @Test func `a finished transaction can be finished again`() throws {
        let bought = try buy()
        let finished = try store.finish(bought.identifier, account: "alice")
        #expect(try store.finish(bought.identifier, account: "alice") == finished)
    }

    @Test func `a product with a pending payment is restored`() throws {
        let bought = try buy()
        _ = try store.finish(bought.identifier, account: "alice")
        _ = try store.add(Self.sprout1, account: "alice", outcome: .deferred)
        _ = try store.process(account: "alice")
        try store.restoreCompletedTransactions(account: "alice")
        #expect(try store.transactions(account: "alice").map(\.transaction.state) == [.finished, .deferred, .restored])
    }

    @Test func `a withdrawn product is restored and no longer sold`() throws {
        let bought = try buy()
        _ = try store.finish(bought.identifier, account: "alice")
        let waiting = try store.add(Self.sprout1, account: "alice", outcome: .deferred)
        _ = try store.process(account: "alice")
        let withdrawn = try shop.reopened(withdrawing: "com.memolease.sesac1.sprout1")
        let declined = try withdrawn.approve(waiting.identifier).transaction
        #expect(declined.state == .failed)
        #expect(declined.error == .storeProductNotAvailable)
        try withdrawn.restoreCompletedTransactions(account: "alice")
        let restored = try #require(try withdrawn.transactions(account: "alice").last).transaction
        #expect(restored.purchase?.originalTransactionIdentifier == bought.purchase?.transactionIdentifier)
    }

    @Test func `the receipt does not grow with restorations`() throws {
        for _ in 0..<5 {
            let bought = try buy()
            _ = try store.finish(bought.identifier, account: "alice")
        }
        let proof = try shop.verifier().verify(
            Array(try store.receipt(account: "alice").utf8), expecting: ProofExpectations())
        #expect(proof.purchases?.count == 1)
    }

    /// Swift 6.3 miscompiles some throwing functions that return wider values.
    @Test func `a queued transaction is at most 128 bytes wide`() {
        #expect(MemoryLayout<QueuedTransaction>.size <= 128)
    }

    @Test func `the queue survives a restart`() throws {
        _ = try store.add(Self.sprout1, account: "alice")
        let reopened = try shop.reopened()
        #expect(try reopened.process(account: "alice").map(\.state) == [.purchased])
    }

    @Test func `errors have a code`() throws {
        #expect(throws: StoreError.productNotFound("nothing")) {
            try store.add(Payment(productIdentifier: "nothing"), account: "alice")
        }
        #expect(throws: StoreError.quantityOutOfRange(11)) {
            try store.add(Payment(productIdentifier: Self.sprout1.productIdentifier, quantity: 11), account: "alice")
        }
        #expect(throws: StoreError.transactionNotFound(99)) { try store.approve(99) }
        let purchasing = try store.add(Self.sprout1, account: "alice")
        #expect(throws: StoreError.illegalTransition(.init(state: .purchasing, event: .finish))) {
            try store.finish(purchasing.identifier, account: "alice")
        }
        #expect(throws: StoreError.notPurchased(purchasing.identifier)) {
            try store.signedTransaction(purchasing.identifier)
        }
        #expect(throws: StoreError.transactionNotFound(purchasing.identifier)) {
            try store.finish(purchasing.identifier, account: "bob")
        }
    }
}
