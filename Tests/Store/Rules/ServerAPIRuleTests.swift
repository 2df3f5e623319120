import AppStore
import Foundation
import Proofs
import Testing

/// The rules of the App Store Server API: extensions, consumption and histories.
@Suite struct ServerAPIRuleTests {
    @Test(
        arguments: [
            (1, 0, "r", nil), (90, 3, String(repeating: "r", count: 128), nil),
            (0, 0, "r", .invalidExtendByDays), (91, 0, "r", .invalidExtendByDays),
            (nil, 0, "r", .invalidExtendByDays), (1, 4, "r", .invalidExtendReasonCode),
            (1, nil, "r", .invalidExtendReasonCode), (1, 0, "", .invalidRequestIdentifier),
            (1, 0, nil, .invalidRequestIdentifier),
            (1, 0, String(repeating: "r", count: 129), .invalidRequestIdentifier),
        ] as [(Int?, Int?, String?, ServerAPIError?)])
    func `an extension is for 1 to 90 days`(
        days: Int?,
        reasonCode: Int?,
        requestIdentifier: String?,
        expected: ServerAPIError?
    ) {
        let refusal = Self.error {
            _ = try RenewalExtension(days: days, reasonCode: reasonCode, requestIdentifier: requestIdentifier)
        }
        #expect(refusal == expected)
    }

    @Test func `a renewal date is extended twice in 365 days`() throws {
        var subscription = try RuleFixture().subscription()
        let effects = try subscription.extendRenewalDate(byDays: 10, at: RuleFixture.day(1))
        #expect(effects == [.setExpiresDate(RuleFixture.day(40)), .notify(.renewalExtended, nil)])
        _ = try subscription.extendRenewalDate(byDays: 10, at: RuleFixture.day(2))
        let unchanged = subscription
        let refusal = Self.error { _ = try subscription.extendRenewalDate(byDays: 10, at: RuleFixture.day(365)) }
        #expect(refusal == .subscriptionMaxExtension)
        #expect(subscription == unchanged)
        _ = try subscription.extendRenewalDate(byDays: 10, at: RuleFixture.day(366))
        #expect(subscription.expiresDate == RuleFixture.day(60))
    }

    @Test func `only a subscription that renews is extended`() throws {
        var subscription = try RuleFixture().subscription()
        _ = try subscription.setAutoRenew(false)
        let refusal = Self.error { _ = try subscription.extendRenewalDate(byDays: 10, at: RuleFixture.day(1)) }
        #expect(refusal == .subscriptionExtensionIneligible)
    }

    @Test(
        arguments: [
            ("basic.monthly", [], true), ("basic.monthly", ["KOR", "USA"], true), ("basic.monthly", ["KOR"], false),
            ("premium.monthly", [], false),
        ] as [(String, [String], Bool)])
    func `an extension for all subscribers is for one product, in some storefronts`(
        name: String,
        countries: [String],
        isIncluded: Bool
    ) throws {
        var subscription = try RuleFixture().subscription()
        let latest = RuleFixture.transaction(of: "basic.monthly", type: .autoRenewableSubscription)
        func includes() -> Bool {
            RenewalExtension.includes(subscription, latest: latest, of: "garden.\(name)", in: countries)
        }
        #expect(includes() == isIncluded)
        subscription.revoke()
        #expect(!includes())
    }

    @Test(
        arguments: [
            ("{}", .invalidCustomerConsented), (#"{"customerConsented":false}"#, .invalidCustomerConsented),
            (#"{"customerConsented":true}"#, .invalidSampleContentProvided),
            (#"{"customerConsented":true,"sampleContentProvided":false}"#, .invalidDeliveryStatus),
            (
                #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"LOST"}"#,
                .invalidDeliveryStatus
            ),
            (#"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED"}"#, nil),
            (
                #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"UNDELIVERED_OTHER"}"#, nil
            ),
        ] as [(String, ServerAPIError?)])
    func `consumption information is complete`(json: String, expected: ServerAPIError?) throws {
        let request = try JSONDecoder().decode(ConsumptionRequest.self, from: Data(json.utf8))
        let refusal = Self.error { try request.validate() }
        #expect(refusal == expected)
    }

    /// Consumption information with a status of delivery and what follows it.
    private static func consumption(_ status: String, _ more: String = "") throws -> ConsumptionRequest {
        let json = #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"\#(status)"\#(more)}"#
        return try JSONDecoder().decode(ConsumptionRequest.self, from: Data(json.utf8))
    }

    @Test(
        arguments: [
            ("DELIVERED", 0, nil), ("DELIVERED", 100_000, nil), ("DELIVERED", 100_001, .generalBadRequest),
            ("DELIVERED", -1, .generalBadRequest), ("UNDELIVERED_OTHER", 0, nil),
            ("UNDELIVERED_OTHER", 1, .generalBadRequest),
        ] as [(String, Int, ServerAPIError?)])
    func `nothing undelivered is consumed`(status: String, percentage: Int, expected: ServerAPIError?) throws {
        let request = try Self.consumption(status, #","consumptionPercentage":\#(percentage)"#)
        #expect(Self.error { try request.validate() } == expected)
    }

    /// The transactions that consumption information is about.
    private static let sales = [
        "seeds": RuleFixture.transaction(of: "seeds", type: .consumable), "gate": RuleFixture.transaction(),
        "season": RuleFixture.transaction(of: "season", type: .nonRenewingSubscription),
        "monthly": RuleFixture.transaction(of: "basic.monthly", type: .autoRenewableSubscription),
        "shared": RuleFixture.transaction(ownership: .familyShared),
    ]

    @Test(
        arguments: [
            ("seeds", "", nil), ("gate", "", nil), ("season", "", nil), ("monthly", "", nil),
            ("shared", "", .familyTransactionNotSupported),
            ("monthly", #","consumptionPercentage":0"#, .consumptionPercentageAutoRenewableSubscription),
            ("monthly", #","refundPreference":"GRANT_PRORATED""#, nil),
            ("seeds", #","refundPreference":"GRANT_PRORATED","consumptionPercentage":1"#, nil),
            ("seeds", #","refundPreference":"GRANT_PRORATED","consumptionPercentage":99999"#, nil),
            ("seeds", #","refundPreference":"GRANT_PRORATED""#, .generalBadRequest),
            ("seeds", #","refundPreference":"GRANT_PRORATED","consumptionPercentage":0"#, .generalBadRequest),
            ("gate", #","refundPreference":"GRANT_PRORATED","consumptionPercentage":100000"#, .generalBadRequest),
        ] as [(String, String, ServerAPIError?)])
    func `a prorated refund needs a percentage, and a subscription has none`(
        sale: String,
        more: String,
        expected: ServerAPIError?
    ) throws {
        let request = try Self.consumption("DELIVERED", more)
        let transaction = try #require(Self.sales[sale])
        #expect(Self.error { try request.validate(for: transaction) } == expected)
    }

    @Test(
        arguments: [
            ("seeds", nil), ("monthly", nil), ("gate", .invalidTransactionTypeNotSupported),
            ("season", .invalidTransactionTypeNotSupported),
        ] as [(String, ServerAPIError?)])
    func `the first version takes consumables and subscriptions`(sale: String, expected: ServerAPIError?) throws {
        let request = try JSONDecoder().decode(ConsumptionRequestV1.self, from: Data("{}".utf8))
        let transaction = try #require(Self.sales[sale])
        #expect(Self.error { try request.validate(for: transaction) } == expected)
    }

    /// Every field but the preference is required (App Store Server API, `ConsumptionRequestV1`).
    @Test(
        arguments: [
            ("customerConsented", "false", .invalidCustomerConsented),
            ("sampleContentProvided", nil, .invalidSampleContentProvided),
            ("consumptionStatus", "4", .invalidConsumptionStatus), ("platform", "3", .invalidPlatform),
            ("deliveryStatus", "6", .invalidDeliveryStatus), ("accountTenure", "8", .invalidAccountTenure),
            ("playTime", "8", .invalidPlayTime),
            ("lifetimeDollarsRefunded", "8", .invalidLifetimeDollarsRefunded),
            ("lifetimeDollarsPurchased", "-1", .invalidLifetimeDollarsPurchased),
            ("userStatus", "5", .invalidUserStatus), ("appAccountToken", #""x""#, .invalidAppAccountToken),
        ] as [(String, String?, ServerAPIError)])
    func `consumption data of the first version is complete and in range`(
        field: String,
        wrong: String?,
        error: ServerAPIError
    ) throws {
        func refusal(_ value: String?) throws -> ServerAPIError? {
            var fields = [
                "customerConsented": "true", "sampleContentProvided": "true", "appAccountToken": #""""#,
                "consumptionStatus": "0", "platform": "2", "deliveryStatus": "0", "accountTenure": "7",
                "playTime": "0", "lifetimeDollarsRefunded": "0", "lifetimeDollarsPurchased": "0", "userStatus": "0",
            ]
            if value != "right" { fields[field] = value }
            let json = "{\(fields.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
            let request = try JSONDecoder().decode(ConsumptionRequestV1.self, from: Data(json.utf8))
            return Self.error { try request.validate() }
        }
        #expect(try refusal("right") == nil)
        #expect(try refusal(wrong) == error)
        #expect(try refusal(nil) == error)
    }

    @Test(
        arguments: [
            (RuleFixture.transaction(), true), (RuleFixture.transaction("5", of: "seeds", type: .consumable), false),
            (RuleFixture.transaction("6", of: "seeds", type: .consumable), true),
            (RuleFixture.transaction("5", of: "seeds", type: .consumable, revoked: .refundFull), true),
        ] as [(Transaction, Bool)])
    func `the first history leaves out finished consumables`(transaction: Transaction, isIncluded: Bool) {
        #expect(HistoryVersion.v1.includes(transaction, unfinished: ["6"]) == isIncluded)
        #expect(HistoryVersion.v2.includes(transaction, unfinished: ["6"]))
    }

    @Test func `a history is read page by page, in either direction`() {
        let changes = (1...45).map { (change: Int64($0), transaction: RuleFixture.transaction("\($0)")) }
        for isDescending in [false, true] {
            var (cursor, met, pages) = (HistoryCursor?.none, [String](), [Int]())
            var hasMore = true
            while hasMore {
                let page = HistoryPage(of: changes, after: cursor, isDescending: isDescending) {
                    $0.transactionIdentifier != "3"
                }
                met += page.transactions.map(\.transactionIdentifier)
                pages.append(page.transactions.count)
                (cursor, hasMore) = (page.cursor, page.hasMore)
            }
            let expected = (1...45).filter { $0 != 3 }.map { "\($0)" }
            #expect(met == (isDescending ? expected.reversed() : expected))
            #expect(pages == [20, 20, 4])
        }
    }

    @Test(
        arguments: [
            (30, 31, .sandbox, nil), (0, 31, .sandbox, .startDateTooFarInPast), (0, 31, .production, nil),
            (31, 31, .sandbox, .startDateAfterEndDate), (nil, 31, .sandbox, .invalidStartDate),
            (30, nil, .sandbox, .invalidEndDate),
        ] as [(Int64?, Int64?, AppStoreEnvironment, ServerAPIError?)])
    func `the history of notifications goes back 180 days, and 30 in the sandbox`(
        start: Int64?,
        end: Int64?,
        environment: AppStoreEnvironment,
        expected: ServerAPIError?
    ) throws {
        let dates = [("startDate", start), ("endDate", end)].compactMap { name, day in
            day.map { "\"\(name)\":\(RuleFixture.day($0).millisecondsSince1970)" }
        }
        let json = Data("{\(dates.joined(separator: ","))}".utf8)
        let request = try JSONDecoder().decode(NotificationHistoryRequest.self, from: json)
        let refusal = Self.error { _ = try request.dates(at: RuleFixture.day(31), environment: environment) }
        #expect(refusal == expected)
    }

    private static func error(_ body: () throws -> Void) -> ServerAPIError? {
        do { try body() } catch { return error as? ServerAPIError }
        return nil
    }
}
