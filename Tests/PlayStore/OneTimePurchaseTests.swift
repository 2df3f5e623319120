import PlayStore
import Proofs
import Testing

/// The life of a one-time purchase, without a database.
@Suite struct OneTimePurchaseTests {
    private static let start = Timestamp(secondsSince1970: 1_790_000_000)

    private func purchase(
        quantity: Int = 1, isTest: Bool = false, isPaid: Bool = true,
        rental: OneTimeProduct.PurchaseOption.RentOption? = nil, preorder: OneTimePurchase.Preorder? = nil
    ) throws -> OneTimePurchase {
        var terms = OneTimePurchase.Terms(
            packageName: "com.example.garden", productId: "seeds", purchaseOptionId: "buy", title: "Seeds",
            regionCode: "US", price: Money(currencyCode: "USD", billionths: 1_990_000_000), quantity: quantity,
            isTest: isTest)
        (terms.rental, terms.preorder) = (rental, preorder)
        var purchase = OneTimePurchase(
            number: 1, token: "token", account: "ada", terms: terms, purchaseTime: Self.start)
        if isPaid { try purchase.complete(orderId: "GPA.1", at: Self.start) }
        return purchase
    }

    private func refund(
        _ quantity: Int, isRevoking: Bool = true, reason: VoidedPurchase.Reason = .other
    ) -> OneTimePurchase.Refund {
        OneTimePurchase.Refund(
            time: Self.start.adding(days: 1), quantity: quantity, isRevoking: isRevoking, source: .user, reason: reason)
    }

    @Test func `a pending purchase completes or is canceled, once`() throws {
        var purchase = try purchase(isPaid: false)
        #expect(purchase.state == .pending && purchase.isOwned(at: Self.start))
        #expect(purchase.acknowledgementDeadline == nil)
        #expect(throws: PublisherError.self) { try purchase.acknowledge(nil) }
        #expect(throws: PublisherError.self) { try purchase.consume(at: Self.start) }
        #expect(throws: PlayError.self) { try purchase.refund(refund(1)) }
        var canceled = purchase
        try canceled.cancel()
        #expect(canceled.state == .canceled && !canceled.isOwned(at: Self.start))
        #expect(throws: PlayError.self) { try canceled.complete(orderId: "GPA.1", at: Self.start) }
        let later = Self.start.adding(days: 2)
        try purchase.complete(orderId: "GPA.1", at: later)
        #expect(purchase.state == .purchased && purchase.orderId == "GPA.1")
        #expect(purchase.acknowledgementDeadline == later.adding(days: 3))
        #expect(throws: PlayError.self) { try purchase.cancel() }
    }

    @Test func `an acknowledgement or a consumption ends the deadline`() throws {
        #expect(try purchase().acknowledgementDeadline == Self.start.adding(days: 3))
        #expect(try purchase(isTest: true).acknowledgementDeadline == Self.start.adding(seconds: 300))
        var acknowledged = try purchase()
        try acknowledged.acknowledge("payload")
        #expect(acknowledged.acknowledgementDeadline == nil && acknowledged.developerPayload == "payload")
        #expect(acknowledged.isOwned(at: Self.start))
        #expect(throws: PublisherError.self) { try acknowledged.acknowledge(nil) }
        try acknowledged.consume(at: Self.start)
        #expect(!acknowledged.isOwned(at: Self.start))
        #expect(throws: PublisherError.self) { try acknowledged.consume(at: Self.start) }
        var consumed = try purchase()
        try consumed.consume(at: Self.start)
        #expect(consumed.isAcknowledged && consumed.acknowledgementDeadline == nil)
    }

    @Test func `a pre-order waits for its release, and is completed by nobody`() throws {
        let release = Self.start.adding(days: 9)
        var ordered = try purchase(isPaid: false, preorder: .init(releaseTime: release))
        #expect(ordered.releaseTime == release && ordered.isOwned(at: Self.start) && ordered.orderId == nil)
        #expect(throws: PlayError.self) { try ordered.complete(orderId: "GPA.1", at: Self.start) }
        try ordered.cancel()
        #expect(ordered.releaseTime == nil && !ordered.isOwned(at: Self.start))
    }

    @Test func `a rental is owned until its period ends, which begins at the payment`() throws {
        let rental = OneTimeProduct.PurchaseOption.RentOption(rentalPeriod: "P2D", expirationPeriod: "PT6H")
        var rented = try purchase(isPaid: false, rental: rental)
        #expect(rented.rentalEnd == nil)
        let paid = Self.start.adding(days: 1)
        try rented.complete(orderId: "GPA.1", at: paid)
        #expect(rented.rentalEnd == paid.adding(days: 2) && rented.state == .purchased)
        #expect(rented.isOwned(at: paid.adding(seconds: 2 * 86_400 - 1)))
        #expect(!rented.isOwned(at: paid.adding(days: 2)))
        try rented.consume(at: paid.adding(days: 1))
        #expect(rented.rentalEnd == paid.adding(seconds: 30 * 3600))
        var late = try purchase(rental: rental)
        try late.consume(at: Self.start.adding(seconds: 47 * 3600))
        #expect(late.rentalEnd == Self.start.adding(days: 2))
        #expect(try purchase().rentalEnd == nil)
    }

    @Test func `the refund of the rest cancels the purchase, and states no quantity`() throws {
        var purchase = try purchase(quantity: 10)
        var quantities: [Int32?] = []
        for quantity in [2, 3, 5] {
            #expect(purchase.state == .purchased)
            quantities.append(try #require(try purchase.refund(refund(quantity))).voidedQuantity)
        }
        #expect(quantities == [2, 3, nil])
        #expect(purchase.state == .canceled && purchase.refundableQuantity == 0 && purchase.refundedQuantity == 10)
        #expect(throws: PlayError.self) { try purchase.refund(refund(1)) }
    }

    @Test func `a refund without revocation voids nothing`() throws {
        var purchase = try purchase()
        #expect(try purchase.refund(refund(1, isRevoking: false)) == nil)
        #expect(purchase.state == .purchased && purchase.refundableQuantity == 0)
        #expect(purchase.acknowledgementDeadline == nil)
    }

    @Test(arguments: [0, -1, 4]) func `a refund is for at most the units that are left`(quantity: Int) throws {
        var purchase = try purchase(quantity: 3)
        #expect(throws: PlayError.self) { try purchase.refund(refund(quantity)) }
        #expect(purchase.refunds.isEmpty)
    }

    @Test(
        arguments: [(1_990_000_000, "1", 990_000_000), (990_000_000, nil, 990_000_000), (2_000_000_000, "2", nil)]
            as [(Int64, String?, Int32?)])
    func `an amount leaves out the part that is 0`(billionths: Int64, units: String?, nanos: Int32?) {
        let money = Money(currencyCode: "USD", billionths: billionths)
        #expect(money.units.map { String($0.value) } == units && money.nanos == nanos)
        #expect(money.billionths == billionths)
    }
}
