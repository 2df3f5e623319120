import Proofs
import TestSupport
import Testing

/// The lines of a chain of purchase tokens: what each product is, and the dates of its charges without orders.
@Suite struct GooglePlayLineTests {
    private typealias Answers = PlayAnswers
    private static let now = Answers.now

    private static func day(_ days: Int64) -> Timestamp { now.adding(days: days) }

    private func item(_ product: String, order: String? = "GPA.1", until end: Int64 = 20, more: String = "") -> String {
        let order = order.map { #","latestSuccessfulOrderId":"\#($0)""# } ?? ""
        return #"{"productId":"\#(product)","expiryTime":"\#(Answers.day(end))",\#(Answers.renewing)\#(order)\#(more)}"#
    }

    /// A product that the ledger knows.
    private func known(
        _ product: String = "premium", in line: String = "", of token: String = Answers.token, order: String? = "GPA.1",
        charge: String? = nil, from begin: Int64 = -10, to end: Int64 = 20, lapsed: Int64? = nil, number: Int64 = 1
    ) -> GooglePlayLines.Product {
        .init(
            product, in: line, of: token, charge: charge ?? order ?? Answers.name, orderId: order,
            from: Self.day(begin), to: Self.day(end), lapsedAt: lapsed.map(Self.day), number: number)
    }

    private func statement(
        _ items: [String], in state: String = "ACTIVE", knowing products: [GooglePlayLines.Product] = [],
        orders: [GooglePlayOrder] = [], more: String = "", number: Int64 = 2, isNewToken: Bool = false
    ) throws -> GooglePlayStatement {
        try Answers.statement(Answers.subscription(state, items: items, more: more), orders: orders).placed(
            in: GooglePlayLines(products), of: Answers.token, number: number, isNewToken: isNewToken)
    }

    private func transaction(_ statement: GooglePlayStatement) throws -> ProvenPurchase {
        try #require(statement.purchases.first).purchase
    }

    // MARK: Lines

    @Test func `a product keeps its line, whatever a later answer holds`() throws {
        let both = try statement([item("base"), item("add")], isNewToken: true)
        func originals(_ items: [String]) throws -> [String: String] {
            let stated = try statement(items, knowing: both.lines.products).purchases.map(\.purchase)
            return Dictionary(
                uniqueKeysWithValues: stated.map { ($0.productIdentifier, $0.originalTransactionIdentifier) })
        }
        let (main, add) = (Answers.name, "\(Answers.name):add")
        #expect(try originals([item("base"), item("add")]) == ["base": main, "add": add])
        #expect(try originals([item("add"), item("base")]) == ["base": main, "add": add])
        #expect(try originals([item("base")]) == ["base": main])
        // The base is removed, and its add-on goes on alone.
        #expect(try originals([item("add")]) == ["add": add])
        #expect(try originals([item("add"), item("third")]) == ["add": add, "third": "\(Answers.name):third"])
    }

    @Test func `a product takes the line of the one that it replaces`() throws {
        let before = [known("base"), known("add", in: "add", charge: "GPA.1:add")]
        func lines(_ items: [String]) throws -> [String: String] {
            let after = try statement(items, knowing: before, isNewToken: true).lines.products
            return Dictionary(uniqueKeysWithValues: after.map { ($0.productId, $0.line) })
        }
        let instead = #","itemReplacement":{"productId":"add","replacementMode":"CHARGE_FULL_PRICE"}"#
        #expect(
            try lines([item("base"), item("other", order: "GPA.2", more: instead)])
                == ["base": "", "add": "add", "other": "add"])
        // Google Play names the replaced item for 60 days only.
        #expect(try lines([item("new", order: "GPA.2"), item("add")]) == ["base": "", "add": "add", "new": ""])
        #expect(
            try lines([item("new", order: "GPA.2"), item("add"), item("base")])
                == ["base": "", "add": "add", "new": "new"])
    }

    @Test func `an item in the place of one that is over takes its line`() throws {
        // A deferred replacement whose answer does not name the replaced item.
        let ended = item("old", until: 0).replacing(Answers.renewing, with: #""autoRenewingPlan":{}"#)
        let new = item("new", order: "GPA.2", until: 30)
        for (line, kept) in [("", [String]()), ("old", [item("base")])] {
            let charge = line.isEmpty ? "GPA.1" : "GPA.1:\(line)"
            let before = [known("old", in: line, charge: charge, to: 0)] + (kept.isEmpty ? [] : [known("base")])
            let stated = try statement(kept + [ended, new], knowing: before)
            let purchases = stated.purchases.filter { $0.purchase.productIdentifier != "base" }
            #expect(Set(purchases.map(\.purchase.originalTransactionIdentifier)).count == 1)
            #expect(stated.lines.products.first { $0.productId == "new" }?.line == line)
            #expect(purchases.map { $0.renewal == nil } == [true, false])
            #expect(purchases.last?.purchase.facts.text(.transactionReason) == "RENEWAL")
        }
    }

    @Test func `a prepaid plan that is topped up keeps its time`() throws {
        let old = item("premium", until: 0).replacing(Answers.renewing, with: #""prepaidPlan":{}"#)
        let lines = [known(of: "later", order: "GPA.2", from: 10, to: 40)]
        #expect(try statement([old], in: "EXPIRED", knowing: lines).purchases.isEmpty)
    }

    @Test func `the owner of one line is asked for the others`() throws {
        let stated = try statement([item("base"), item("add"), item("third")], isNewToken: true).purchases
        #expect(stated.map(\.chain) == ["\(Answers.name):add", Answers.name, Answers.name])
        #expect(try statement([item("base")], isNewToken: true).purchases.map(\.chain) == [nil])
    }

    // MARK: Lines that end

    @Test(
        arguments: [
            // The state, the known end of the add-on, and the end that the answer makes.
            ("ACTIVE", 20, 0), ("CANCELED", 20, 0), ("IN_GRACE_PERIOD", 20, 0), ("ACTIVE", -1, -1),
            // It has ended long ago.
            ("ACTIVE", -4, nil),
            // A state that may be replaced by another answer ends nothing.
            ("PENDING", 20, nil), ("OF_THE_FUTURE", 20, nil),
        ] as [(String, Int64, Int64?)])
    func `a line that an answer does not have has ended`(state: String, known end: Int64, made: Int64?) throws {
        let lines = [known("base"), known("add", in: "add", charge: "GPA.1:add", to: end)]
        let gone = try statement([item("base")], in: state, knowing: lines).endedLines.filter { !$0.isStated }
        #expect(gone.map(\.original) == (made == nil ? [] : ["\(Answers.name):add"]))
        #expect(gone.first?.endsAt == made.map(Self.day))
        #expect(gone.first?.renewal?.facts.integer(.autoRenewStatus) == made.map { _ in 0 })
        #expect(gone.first?.revokedAt == nil)
    }

    @Test func `the refund of an order takes back the item that is gone`() throws {
        let lines = [known("base"), known("add", in: "add", charge: "GPA.1:add")]
        let order = try Answers.order(
            "GPA.1", "PARTIALLY_REFUNDED",
            items: [
                #"{"productId":"base","total":{"currencyCode":"KRW","units":"9900"}}"#,
                #"{"productId":"add","total":{"currencyCode":"KRW","units":"5000"}}"#,
            ],
            more: #","orderHistory":{"partialRefundEvents":[{"createTime":"\#(Answers.day(-1))","processTime":"#
                + #""\#(Answers.day(-1))","state":"PROCESSED_SUCCESSFULLY"}]}"#)
        let stated = try statement([item("base")], knowing: lines, orders: [order])
        let gone = try #require(stated.endedLines.first)
        #expect(gone.charge == "GPA.1:add" && gone.revokedAt == Self.day(-1))
        #expect(gone.facts.text(.revocationType) == "REFUND_FULL" && gone.facts.integer(.price) == 5_000_000)
        #expect(try transaction(stated).revocationDate == nil)
        // The recorded answer is applied afterwards.
        let again = stated.placed(in: stated.lines, of: Answers.token, number: 2, isNewToken: false)
        #expect(again.endedLines.map(\.revokedAt) == [Self.day(-1)])
        #expect(again.endedLines.map { $0.renewal?.facts.canceler } == [.developer])
    }

    @Test func `an earlier token ends nothing of its successor`() throws {
        let items = [item("base", order: "GPA.0", until: -1)]
        let lines = [known("base", of: "later", order: "GPA.9", from: -1), known("add", in: "add", of: "later")]
        let ended = try statement(items, in: "EXPIRED", knowing: lines)
        #expect(ended.endedLines.isEmpty && ended.lines.products == lines)
        #expect(try transaction(ended).transactionIdentifier == "GPA.0")
        // The later token says what comes next.
        #expect(ended.purchases.first?.renewal == nil)
        // In a deferred replacement, both tokens have one charge.
        let shared = try statement([item("base", order: "GPA.9", until: 0)], in: "EXPIRED", knowing: lines)
        #expect(shared.purchases.isEmpty)
    }

    @Test func `a token that ended before its first answer ends what it has taken over`() throws {
        // A deferred replacement shares the charge. Google refunds one that is not acknowledged, with the charge.
        let (items, linked) = ([item("premium", until: -1)], #","linkedPurchaseToken":"earlier""#)
        let before = [known(of: "earlier")]
        let ended = try statement(items, in: "EXPIRED", knowing: before, more: linked, isNewToken: true)
        #expect(try transaction(ended).transactionIdentifier == "GPA.1")
        #expect(try transaction(ended).expiresDate == Self.day(-1))
        #expect(ended.lines.products.map(\.purchaseToken) == [Answers.token])
        // A token that follows another one, or was replaced itself, may be an earlier one.
        let replaced = linked + #","canceledStateContext":{"replacementCancellation":{}}"#
        for more in ["", linked.replacing("earlier", with: "earliest"), replaced] {
            let other = try statement(items, in: "EXPIRED", knowing: before, more: more, isNewToken: true)
            #expect(other.purchases.isEmpty && other.lines.products == before)
        }
    }

    @Test(arguments: ["EXPIRED", "ON_HOLD", "PAUSED"])
    func `a state without access ends every charge of its lines`(state: String) throws {
        let renewed = try statement([item("premium", order: "GPA.1..0", until: 30)], in: state, knowing: [known(to: 1)])
        let ended = try #require(renewed.endedLines.first)
        #expect(ended.isStated && ended.original == Answers.name && ended.charge == "GPA.1..0")
        #expect(ended.endsAt == Self.now)
        let replaced = #","canceledStateContext":{"replacementCancellation":{}}"#
        #expect(try statement([item("premium")], in: state, knowing: [known()], more: replaced).endedLines.isEmpty)
    }

    // MARK: Charges

    @Test func `an order that comes later is that of the charge that is known`() throws {
        let promotion = known(order: nil)
        let later = try statement([item("premium", order: "GPA.7")], knowing: [promotion])
        #expect(try transaction(later).transactionIdentifier == Answers.name)
        #expect(try transaction(later).facts.text(.orderId) == "GPA.7")
        // Then every answer has it.
        let again = try statement([item("premium", order: "GPA.7", until: 25)], knowing: later.lines.products)
        #expect(try transaction(again).transactionIdentifier == Answers.name)
        // Another end is that of another charge.
        let renewed = try statement([item("premium", order: "GPA.7", until: 50)], knowing: [promotion])
        #expect(try transaction(renewed).transactionIdentifier == "GPA.7")
        #expect(try transaction(renewed).purchaseDate == Self.day(20))
        #expect(try transaction(renewed).facts.text(.transactionReason) == "RENEWAL")
    }

    @Test func `a charge without an order is a renewal once the one before is over`() throws {
        let next = item("premium", order: nil, until: 30)
        // The billing is deferred within the period.
        #expect(
            try transaction(try statement([next], knowing: [known(order: nil, to: 20)])).transactionIdentifier
                == Answers.name)
        let renewed = try transaction(try statement([next], knowing: [known(order: nil, to: 0)]))
        #expect(renewed.transactionIdentifier == "\(Answers.name).\(Self.day(30).secondsSince1970)")
        #expect(renewed.purchaseDate == Self.now)
        let ordered = try transaction(try statement([next], knowing: [known(charge: Answers.name, to: 0)]))
        #expect(ordered.transactionIdentifier == renewed.transactionIdentifier)
    }

    @Test func `a promotion code is a charge of nothing`() throws {
        let code = try transaction(
            try statement(
                [item("premium", order: nil, more: #","signupPromotion":{"oneTimeCode":{}}"#)], isNewToken: true))
        #expect(code.facts.integer(.price) == 0 && code.facts.text(.currency) == "KRW")
        #expect(code.facts.text(.offerDiscountType) == "FREE_TRIAL")
        // Nothing is charged without an order, whichever phase is stated.
        let base = try transaction(
            try statement(
                [
                    item(
                        "premium", order: nil,
                        more: #","signupPromotion":{"oneTimeCode":{}},"offerPhase":{"basePrice":{}}"#)
                ], isNewToken: true))
        #expect(base.facts.integer(.price) == 0)
        // A purchase without an order yet has no price.
        #expect(try transaction(try statement([item("premium", order: nil)])).facts[.price] == nil)
    }

    /// A charge whose order the service account may not see.
    struct Charge: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let order: String
        let end: Int64
        let known: GooglePlayLines.Product?
        var isNewToken = false
        /// The days until it begins, and its reason.
        let begins: Int64
        let reason: String
    }

    static let charges: [Charge] = {
        func known(
            of token: String = PlayAnswers.token, from begin: Int64, to end: Int64, lapsed: Int64? = nil
        ) -> GooglePlayLines.Product {
            .init(
                "premium", in: "", of: token, charge: "GPA.1", orderId: "GPA.1", from: day(begin), to: day(end),
                lapsedAt: lapsed.map(day), number: 1)
        }
        return [
            Charge(
                testDescription: "the first one", order: "GPA.1", end: 20, known: nil, isNewToken: true, begins: -10,
                reason: "PURCHASE"),
            Charge(
                testDescription: "a renewal", order: "GPA.1..0", end: 25, known: known(from: -10, to: -5), begins: -5,
                reason: "RENEWAL"),
            Charge(
                testDescription: "an early renewal", order: "GPA.1..0", end: 31, known: known(from: -10, to: 1),
                begins: 1, reason: "RENEWAL"),
            Charge(
                testDescription: "the first charge after a promotion", order: "GPA.4", end: 30,
                known: known(from: -10, to: 0), begins: 0, reason: "RENEWAL"),
            Charge(
                testDescription: "a charge after a hold", order: "GPA.1..0", end: 29,
                known: known(from: -10, to: -5, lapsed: -1), begins: -1, reason: "RENEWAL"),
            Charge(
                testDescription: "an upgrade within the period", order: "GPA.2", end: 20,
                known: known(of: "old", from: -30, to: 15), isNewToken: true, begins: -10, reason: "PURCHASE"),
            Charge(
                testDescription: "an upgrade that ends earlier", order: "GPA.2", end: 5,
                known: known(of: "old", from: -30, to: 15), isNewToken: true, begins: -10, reason: "PURCHASE"),
            // The first charge of 30 days is unknown.
            Charge(
                testDescription: "a renewal that is seen first", order: "GPA.1..0", end: 50, known: nil,
                isNewToken: true, begins: 20, reason: "RENEWAL"),
            Charge(
                testDescription: "the third renewal, seen first", order: "GPA.1..2", end: 30, known: nil,
                isNewToken: true, begins: 20, reason: "RENEWAL"),
        ]
    }()

    @Test(arguments: charges) func `a charge without its order begins where the one before ends`(_ charge: Charge)
        throws
    {
        let products = [charge.known].compactMap(\.self)
        let stated = try statement(
            [item("premium", order: charge.order, until: charge.end)], knowing: products, isNewToken: charge.isNewToken)
        let purchase = try transaction(stated)
        #expect(purchase.transactionIdentifier == charge.order)
        #expect(purchase.purchaseDate == Self.day(charge.begins))
        #expect(purchase.facts.text(.transactionReason) == charge.reason)
        // The same answer again changes nothing.
        let again = try statement(
            [item("premium", order: charge.order, until: charge.end)], knowing: stated.lines.products)
        #expect(again.lines == stated.lines && again.purchases.map(\.purchase) == stated.purchases.map(\.purchase))
    }

    @Test func `a later add-on begins with the charge that it shares`() throws {
        let known = [known("base", from: -40, to: -10)]
        let both = [item("base", order: "GPA.1..0"), item("add", order: "GPA.1..0")]
        let stated = try statement(both, knowing: known).purchases.map(\.purchase)
        #expect(stated.map(\.purchaseDate) == [Self.day(-10), Self.day(-10)])
        #expect(stated.map { $0.facts.text(.transactionReason) } == ["RENEWAL", "PURCHASE"])
        let own = try statement([item("base"), item("add", order: "GPA.5")], knowing: [self.known("base")])
        #expect(own.purchases.last?.purchase.purchaseDate == Self.now)
    }

    @Test func `two plans of a product in one answer are two charges of one line`() throws {
        func plan(_ plan: String, order: String, until end: Int64, more: String = "") -> String {
            item("premium", order: order, until: end, more: #","offerDetails":{"basePlanId":"\#(plan)"}\#(more)"#)
        }
        let replacing =
            #","itemReplacement":{"productId":"premium","basePlanId":"monthly","replacementMode":"DEFERRED"}"#
        let yearly = plan("yearly", order: "GPA.1..0", until: 365, more: replacing)
        let items = [yearly, plan("monthly", order: "GPA.1", until: 0)]
        var products = [known(to: 0)]
        // The same again changes nothing.
        for _ in 0..<2 {
            let stated = try statement(items, knowing: products)
            let purchases = stated.purchases.map(\.purchase)
            #expect(purchases.map(\.transactionIdentifier) == ["GPA.1..0", "GPA.1"])
            #expect(purchases.map(\.originalTransactionIdentifier) == [Answers.name, Answers.name])
            #expect(purchases.first?.purchaseDate == Self.now)
            #expect(stated.lines.products.map(\.charge) == ["GPA.1..0"])
            products = stated.lines.products
        }
    }

    @Test func `a declined charge is no other one, and leaves the items that are paid`() throws {
        // Google Play moves the end on for the grace period.
        let declined = try statement(
            [item("premium", order: nil, until: 7)], in: "IN_GRACE_PERIOD", knowing: [known(order: nil, to: 0)])
        #expect(try transaction(declined).transactionIdentifier == Answers.name)
        #expect(try transaction(declined).expiresDate == Self.now)
        let lines = [known("base", to: 12), known("add", in: "add", charge: "GPA.1:add", to: 0)]
        let both = try statement(
            [item("base", until: 12), item("add", until: 7)], in: "IN_GRACE_PERIOD", knowing: lines)
        #expect(both.purchases.map(\.purchase.expiresDate) == [Self.day(12), Self.now])
        let renewals = both.purchases.compactMap(\.renewal?.facts)
        #expect(renewals.map { $0.date(.gracePeriodExpiresDate) } == [nil, Self.day(7)])
        #expect(renewals.map { $0.bool(.isInBillingRetryPeriod) } == [false, true])
    }

    // MARK: Orders

    @Test func `an order is asked for until its price is known, and when an item is gone`() throws {
        func orders(_ state: String, _ items: [String], _ products: [GooglePlayLines.Product], _ priced: Set<String>)
            throws -> [String]
        {
            let text = Answers.subscription(state, items: items)
            let answer = try GooglePlayAnswer(
                subscription: Array(text.utf8), about: Answers.token, of: Answers.packageName)
            let moment = GooglePlayAnswer.Moment(
                realm: .google, askedAt: Self.now, named: .test, lines: GooglePlayLines(products))
            return answer.orders(after: moment, knowing: priced)
        }
        let (base, add) = (known("base"), known("add", in: "add", order: "GPA.5"))
        #expect(try orders("ACTIVE", [item("base")], [base], []) == ["GPA.1"])
        #expect(try orders("ACTIVE", [item("base")], [base], ["GPA.1"]).isEmpty)
        #expect(try orders("EXPIRED", [item("base")], [base], ["GPA.1"]) == ["GPA.1"])
        #expect(try orders("ACTIVE", [item("base")], [base, add], ["GPA.1", "GPA.5"]) == ["GPA.5"])
    }

    // MARK: One-time products

    @Test func `each product of a one-time purchase is a purchase of its own`() throws {
        func identifiers(_ products: [String], _ known: [GooglePlayLines.Product] = []) throws -> [String] {
            let items = products.map { #"{"productId":"\#($0)"}"# }
            let stated = try Answers.statement(
                Answers.product("PURCHASED", items: items, more: Answers.paid), isProduct: true)
            let placed = stated.placed(
                in: GooglePlayLines(known), of: Answers.token, number: 1, isNewToken: known.isEmpty)
            for each in placed.purchases.map(\.purchase) {
                #expect(each.transactionIdentifier == each.originalTransactionIdentifier)
            }
            return placed.purchases.map(\.purchase.transactionIdentifier)
        }
        let name = Answers.name
        #expect(try identifiers(["a"]) == [name])
        #expect(try identifiers(["a", "b"]) == ["\(name):a", "\(name):b"])
        let known = GooglePlayLines.Product(
            "b", in: "b", of: Answers.token, charge: "\(name):b", orderId: nil, from: Self.now, to: nil)
        #expect(try identifiers(["b"], [known]) == ["\(name):b"])
    }
}
