import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Exports for analysis, in either database.
@Suite struct ExportLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let clock: ManualClock

    init() throws {
        fixture = try LedgerFixture()
        clock = ManualClock(Self.later(60))
    }

    /// A monthly subscription, by the identifier of the product of each claim.
    private static let products: [String: Product] = {
        guard let period = SubscriptionPeriod("P1M") else { return [:] }
        let product = Product(
            productIdentifier: "p", type: .autoRenewableSubscription, price: Price(milliunits: 4_990, currency: "EUR"),
            isFamilyShareable: false,
            localizations: [
                .init(locale: "de", displayName: "Monatlich", description: ""),
                .init(locale: "en_US", displayName: "Monthly", description: ""),
            ],
            subscription: Subscription(groupIdentifier: "g", groupName: "g", level: 1, period: period, offers: []))
        return ["p": product]
    }()

    private func renewal(at seconds: Int64, _ facts: [RenewalFact: StatedValue]) -> StatedRenewal {
        StatedRenewal(
            statedAt: Self.later(seconds), proofDigest: [UInt8](repeating: 9, count: 32), facts: RenewalFacts(facts))
    }

    /// A period of 1000 seconds.
    ///
    /// - Parameter signed: The seconds after which the claim was signed.
    private func subscribed(
        _ transaction: String,
        from start: Int64,
        facts: [TransactionFact: StatedValue] = [:],
        signed: Int64 = 0,
        renewal: StatedRenewal? = nil
    ) -> Claim {
        var stated = TransactionFacts(facts)
        stated[.type] = .text(ProductType.autoRenewableSubscription.rawValue)
        return claim(
            transaction, original: "1", bought: Self.later(start), signedAt: Self.later(signed),
            expiresAt: Self.later(start + 1000), facts: stated, renewal: renewal)
    }

    private func whole(_ export: Export, _ format: ExportFormat = .csv) throws -> [String] {
        var text = Data()
        let rows = try export.write(ledger, as: format, product: { Self.products[$0] }) { text.append($0) }
        let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        #expect(lines.count == rows + (format == .csv ? 1 : 0))
        return lines
    }

    /// The cells of a row, by column. The table has no quotes.
    private func cells(_ lines: [String], _ row: Int) throws -> [String: String] {
        func split(_ line: String) -> [String] {
            line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        return Dictionary(uniqueKeysWithValues: zip(split(lines[0]), split(try #require(lines.dropFirst(row).first))))
    }

    @Test func `transactions have the columns of the common export`() throws {
        try ledger.writeNow {
            _ = try $0.redeem(
                [
                    subscribed(
                        "1", from: -1000, facts: [.offerDiscountType: .text("FREE_TRIAL"), .offerType: .integer(1)]),
                    subscribed(
                        "2", from: 0,
                        facts: [.price: .integer(4_990), .currency: .text("EUR"), .storefront: .text("DEU")]),
                    claim("3"),
                ], for: alice, at: Self.now)
        }
        let lines = try whole(.transactions)
        #expect(lines.count == 4)
        let (trial, paid, item) = (try cells(lines, 1), try cells(lines, 2), try cells(lines, 3))
        #expect(trial["is_trial_period"] == "true")
        #expect(trial["renewal_number"] == "1")
        #expect(paid["is_trial_conversion"] == "true")
        #expect(paid["renewal_number"] == "2")
        #expect(paid["price_in_purchased_currency"] == "4.99")
        #expect(paid["country"] == "DEU")
        #expect(paid["rc_original_app_user_id"] == "alice")
        #expect(paid["app"] == "com.example.app")
        #expect(paid["is_sandbox"] == "true")
        #expect(paid["product_display_name"] == "Monthly")
        #expect(paid["product_duration"] == "P1M")
        #expect(paid["purchase_price_in_purchased_currency"] == "4.99")
        #expect(paid["unsubscribe_detected_at"] == "" && paid["billing_issues_detected_at"] == "")
        #expect(item["entitlement_identifiers"] == "sprout/1")
        #expect(item["price_in_purchased_currency"] == "")
        #expect(item["is_auto_renewable"] == "false")
    }

    @Test func `a refunded transaction has a purchase price and no price`() async throws {
        _ = try await redeem(
            claim("1", revoked: Self.now, facts: TransactionFacts([.price: .integer(990), .currency: .text("EUR")])),
            for: alice)
        let row = try cells(try whole(.transactions), 1)
        #expect(row["price_in_purchased_currency"] == "0")
        #expect(row["purchase_price_in_purchased_currency"] == "0.99")
        #expect(row["refunded_at"] == Self.now.rfc3339)
    }

    @Test func `a purchase of seats belongs to the period`() async throws {
        let added: [TransactionFact: StatedValue] = [.additionalTransactionReason: .text("SEAT_ADDITION")]
        _ = try await redeem(
            subscribed("1", from: 0, facts: added), subscribed("2", from: 500, facts: added),
            subscribed("3", from: 1000), for: alice)
        let lines = try whole(.transactions)
        #expect(try (1...3).map { try cells(lines, $0)["renewal_number"] } == ["1", "1", "2"])
    }

    @Test func `renewal that was turned off has its date, until it is turned on again`() async throws {
        _ = try await redeem(subscribed("1", from: -1000), subscribed("2", from: 0), for: alice)
        for (moment, isOn, date) in [
            (10, true, nil), (20, false, 20), (30, true, nil), (40, false, 40), (50, false, 40),
        ]
            as [(Int64, Bool, Int64?)]
        {
            let stated = renewal(at: moment, [.autoRenewStatus: .integer(isOn ? 1 : 0)])
            _ = try await notify("\(moment)", subscribed("2", from: 0, signed: moment, renewal: stated))
            let lines = try whole(.transactions)
            let dates = try (1...2).map { try cells(lines, $0)["unsubscribe_detected_at"] }
            #expect(dates == ["", date.map { Self.later($0).rfc3339 } ?? ""], "\(moment)")
        }
        // A new period begins later, and the old one keeps the date.
        _ = try await redeem(subscribed("3", from: 100_000, signed: 100_000), for: alice, at: Self.later(100_000))
        let lines = try whole(.transactions)
        let dates = try (1...3).map { try cells(lines, $0)["unsubscribe_detected_at"] }
        #expect(dates == ["", Self.later(40).rfc3339, ""])
    }

    @Test func `a new owner has the date at which renewal was turned off, whichever statement is late`() async throws {
        func stated(_ isOn: Bool, at moment: Int64) -> Claim {
            subscribed(
                "1", from: 0, signed: moment,
                renewal: renewal(at: moment, [.autoRenewStatus: .integer(isOn ? 1 : 0)]))
        }
        func dates() throws -> [String?] {
            let lines = try whole(.transactions)
            return try lines.indices.dropFirst().map { try cells(lines, $0)["unsubscribe_detected_at"] }
        }
        _ = try await redeem(stated(true, at: 0), for: alice)
        for moment in [20, 50] as [Int64] { _ = try await notify("\(moment)", stated(false, at: moment)) }
        #expect(try dates() == [Self.later(20).rfc3339])
        _ = try await redeem(
            stated(false, at: 60), for: bob, under: .transfer(pauseSeconds: 0), at: Self.later(60))
        #expect(try dates() == [Self.later(20).rfc3339])
        _ = try await notify("late", stated(true, at: 30))
        #expect(try dates() == [Self.later(50).rfc3339])
    }

    @Test(
        arguments: [
            ([.autoRenewStatus: .integer(0)], true, false),
            ([.autoRenewStatus: .integer(0), .expirationIntent: .integer(1)], true, false),
            ([.autoRenewStatus: .integer(0), .expirationIntent: .integer(3)], true, false),
            ([.autoRenewStatus: .integer(0), .expirationIntent: .integer(2)], false, true),
            ([.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)], false, true),
            ([.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(0)], false, false),
            (
                [.autoRenewStatus: .integer(1), .commitmentInfo: .text(#"{"commitmentAutoRenewStatus":0}"#)], true,
                false
            ), ([:], false, false),
        ] as [([RenewalFact: StatedValue], Bool, Bool)])
    func `a subscription without a history has the dates of the last statement`(
        facts: [RenewalFact: StatedValue],
        isTurnedOff: Bool,
        hasFailed: Bool
    ) async throws {
        let stated = renewal(at: 900, facts)
        try await ledger.write {
            // The history of a user does not tell of purchases that do not count for the user.
            _ = try $0.redeem(
                [subscribed("1", from: -1000), subscribed("2", from: 0, renewal: stated)], for: alice, under: .keep,
                accepting: [.appleProduction], by: .user, at: Self.later(900))
        }
        let lines = try whole(.transactions)
        let (first, last) = (try cells(lines, 1), try cells(lines, 2))
        #expect(first["unsubscribe_detected_at"] == "" && first["billing_issues_detected_at"] == "")
        #expect(last["unsubscribe_detected_at"] == (isTurnedOff ? Self.later(900).rfc3339 : ""))
        #expect(last["billing_issues_detected_at"] == (hasFailed ? Self.later(1000).rfc3339 : ""))
    }

    @Test func `JSON Lines omit unknown values`() throws {
        try ledger.writeNow { _ = try $0.redeem([claim("1")], for: alice, at: Self.now) }
        struct Row: Decodable {
            let store_transaction_id: String
            let quantity: Int
            let country: String?
        }
        let rows = try whole(.transactions, .jsonLines).map {
            try JSONDecoder().decode(Row.self, from: Data($0.utf8))
        }
        #expect(rows.map(\.store_transaction_id) == ["1"])
        #expect(rows.map(\.quantity) == [1])
        #expect(rows.map(\.country) == [nil])
    }

    @Test(arguments: [
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@a", "'@a"), ("a=1", "a=1"),
        ("＝1", "'＝1"), ("＋1", "'＋1"), ("－1", "'－1"), ("＠a", "'＠a"), ("\u{2212}1", "'\u{2212}1"), (" =1", "' =1"),
        ("\u{FEFF}=1", "'\u{FEFF}=1"), ("\u{200B}\u{3000}@a", "'\u{200B}\u{3000}@a"), (" a", " a"),
        (#"a,"b""#, #""a,""b""""#), ("=a,b", #""'=a,b""#),
        // A quotation mark and a combining mark are one character.
        ("a\"\u{301},=b", "\"a\"\"\u{301},=b\""),
    ])
    func `no text becomes a formula or another cell`(reason: String, cell: String) throws {
        let grant = Grant(
            identifier: "g", item: Self.sprout1, reason: reason, grantedBy: "K", grantedAt: Self.now, endsAt: nil)
        try ledger.writeNow {
            _ = try $0.add(grant, for: alice)
        }
        #expect(try whole(.events).last?.hasSuffix(",\(cell),") == true)
        // The name of an API key is a text of people, too.
        let key = APIKeyRecord(
            identifier: "K", name: reason, scopes: [], key: "k",
            createdAt: Self.now)
        try ledger.writeNow { try $0.add(key) }
        #expect(try whole(.events).last?.hasSuffix(",\(cell),\(cell)") == true)
    }

    @Test func `events have the name of the API key that acted, and none for another actor`() async throws {
        try ledger.writeNow {
            // Identifiers that other actors end with.
            for (identifier, name) in [("K", "desk"), ("Store", "store"), ("", "none")] {
                let key = APIKeyRecord(
                    identifier: identifier, name: name, scopes: [], key: "k",
                    createdAt: Self.now)
                try $0.add(key)
            }
        }
        _ = try await redeem(claim("1"), for: alice)
        _ = try await notify("1", claim("1", revoked: Self.now, signedAt: Self.later(1)))
        for (identifier, caller) in [("g", "K"), ("h", "L")] {
            let grant = Grant(
                identifier: identifier, item: Self.sprout1, reason: "r", grantedBy: caller, grantedAt: Self.now,
                endsAt: nil)
            _ = try await ledger.write {
                try $0.add(grant, for: alice)
            }
        }
        let lines = try whole(.events)
        let rows = try (1..<lines.count).map { try cells(lines, $0) }
        #expect(rows.map { $0["actor"] } == ["user", "App Store", "key K", "key L"])
        #expect(rows.map { $0["actor_name"] } == ["", "", "desk", ""])
    }

    @Test func `the parts of an export have each transaction once, and no later ones`() async throws {
        for number in 1...5 {
            let user = try #require(User(name: "u\(number)"))
            _ = try await redeem(claim("\(number)"), for: user)
        }
        var (text, position, isFirst): (String, ExportPosition?, Bool) = ("", nil, true)
        while isFirst || position != nil {
            let part = try await Export.transactions.part(
                of: ledger, as: .csv, after: position, users: 2, at: clock.now()
            ) { Self.products[$0] }
            text += part.text
            position = try part.next.map { try #require(ExportPosition($0.description)) }
            if isFirst { _ = try await redeem(claim("9"), for: bob, at: Self.later(120)) }
            isFirst = false
        }
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        #expect(lines.count == 6)
        let found = try (1...5).map { try cells(lines, $0)["store_transaction_id"] }
        #expect(Set(found) == ["1", "2", "3", "4", "5"])
    }

    @Test func `a restored purchase is one transaction of its customer`() async throws {
        for transaction in ["1", "2"] {
            _ = try await redeem(claim(transaction, original: "1", repeatsOriginal: true), for: alice)
        }
        #expect(try cells(try whole(.customers), 1)["transactions"] == "1")
        #expect(try whole(.transactions).count == 2)
    }

    @Test func `an export does not contain an erased user's name`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await redeem(claim("2"), for: bob)
        #expect(try await ledger.write { try $0.erase(alice, by: .user, at: Self.now) })
        #expect(try whole(.customers).dropFirst().map { $0.prefix(4) } == ["bob,"])
        let lines = try whole(.transactions)
        #expect(lines.count == 3)
        #expect(!lines.joined().contains("alice"))
    }
}
