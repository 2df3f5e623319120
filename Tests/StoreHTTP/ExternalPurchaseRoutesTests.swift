import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

/// The External Purchase Server API of the store, with which a developer's server reports purchases outside the App Store.
@Suite struct ExternalPurchaseRoutesTests {
    private let garden: TestGarden
    private let authorization: String

    init() throws {
        (garden, authorization) = try Self.garden(.sandbox)
    }

    private static func garden(_ environment: AppStoreEnvironment) throws -> (TestGarden, String) {
        let garden = try TestGarden(environment: environment)
        var privateKey = ""
        let key = try garden.store.makeTeamKey { privateKey = $1 }
        let token = try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: key.keyIdentifier, issuerIdentifier: key.issuerIdentifier,
            bundleIdentifier: TestGarden.bundleIdentifier
        ).token(at: garden.clock.now())
        return (garden, "Bearer \(token)")
    }

    private func token(_ kind: ExternalPurchaseToken.Kind? = nil, at garden: TestGarden? = nil) throws
        -> ExternalPurchaseToken
    {
        try (garden ?? self.garden).store.write { try $0.makeExternalPurchaseToken(kind) }
    }

    /// The status and the JSON of an answer below `/externalPurchase/v1/reports`.
    private func send(
        _ method: HTTPRequest.Method, _ path: String = "", _ body: JSONValue? = nil,
        to other: (garden: TestGarden, authorization: String)? = nil
    ) async throws -> (status: Int, text: String) {
        let garden = other?.garden ?? garden
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        return try await application.test(.router) { client in
            let answer = try await client.executeRequest(
                uri: "/externalPurchase/v1/reports\(path)", method: method,
                headers: [.authorization: other?.authorization ?? authorization],
                body: body.map { ByteBuffer(string: $0.compactText) })
            return (answer.status.code, String(buffer: answer.body))
        }
    }

    private static func object(_ members: [String: JSONValue?]) -> JSONValue {
        var object = JSONObject()
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { if let value { _ = object.add(name, value) } }
        return .object(object)
    }

    /// A one-time purchase of 10.00 with tax, as in Apple's example.
    private func sale(_ identifier: String = "sale", _ changes: [String: JSONValue?] = [:]) -> JSONValue {
        Self.object(
            [
                "lineItemId": .string(identifier), "creationDate": .integer(garden.store.now.millisecondsSince1970),
                "eventType": "BUY", "productType": "ONE_TIME_BUY", "productIdentifier": "example.one-time-buy.product",
                "amountTaxInclusive": .integer(10_000), "amountTaxExclusive": .integer(8000),
                "taxAmount": .integer(2000), "netAmountTaxExclusive": .integer(8000), "reportingCurrency": "EUR",
                "pricingCurrency": "EUR", "taxCountry": "ESP", "quantity": .integer(6),
            ].merging(changes) { $1 })
    }

    /// A refund of 2.50 with tax.
    private func refund(_ identifier: String = "refund", _ changes: [String: JSONValue?] = [:]) -> JSONValue {
        sale(
            identifier,
            [
                "eventType": "REFUND", "productType": nil as JSONValue?, "productIdentifier": nil as JSONValue?,
                "quantity": nil as JSONValue?, "amountTaxInclusive": .integer(2500),
                "amountTaxExclusive": .integer(2000), "taxAmount": .integer(500),
                "netAmountTaxExclusive": .integer(6000), "referenceLineItemId": "sale",
            ].merging(changes) { $1 })
    }

    private func period(_ identifier: String, _ event: String, _ changes: [String: JSONValue?] = [:]) -> JSONValue {
        let start = garden.store.now
        return sale(
            identifier,
            [
                "productType": "SUBSCRIPTION", "subscriptionEvent": .string(event), "quantity": .integer(1),
                "subscriptionStartDate": .integer(start.millisecondsSince1970),
                "subscriptionEndDate": .integer(start.adding(days: 30).millisecondsSince1970),
                "subscriptionDaysOfPaidService": .integer(0),
            ].merging(changes) { $1 })
    }

    private static func report(
        _ number: Int, _ token: ExternalPurchaseToken, _ status: String = "LINE_ITEM", _ items: [JSONValue]? = nil
    ) -> JSONValue {
        object([
            "requestIdentifier": .string(request(number)), "externalPurchaseId": .string(token.externalPurchaseId),
            "status": .string(status), "lineItems": items.map { .array($0) },
        ])
    }

    private static func request(_ number: Int) -> String { "00000000-0000-4000-8000-0000000000\(10 + number)" }

    private static func accepted(_ number: Int) -> String { #"{"requestIdentifier":"\#(request(number))"}"# }

    /// The numbers and the fields of the mistakes in an answer.
    private static func mistakes(_ text: String) throws -> [String] {
        struct Answer: Decodable {
            struct Mistake: Decodable {
                let errorCode: Int
                let errorMessage: String
                let fieldName: String
            }

            let errors: [Mistake]
        }
        return try JSONDecoder().decode(Answer.self, from: Data(text.utf8)).errors.map {
            #expect($0.errorMessage.hasSuffix("."))
            return "\($0.errorCode) \($0.fieldName)"
        }
    }

    @Test func `a purchase, its refund and its corrections are accepted, and retrieved`() async throws {
        let token = try token()
        #expect(try await send(.put, "", Self.report(1, token, "LINE_ITEM", [sale()])) == (200, Self.accepted(1)))
        #expect(try await send(.put, "", Self.report(2, token, "LINE_ITEM", [refund()])) == (200, Self.accepted(2)))
        // Of 7.00 before tax, 2.00 are refunded.
        let restated = sale(
            "sale",
            [
                "restatement": .bool(true), "amountTaxExclusive": .integer(7000), "amountTaxInclusive": .integer(9000),
                "netAmountTaxExclusive": .integer(5000),
            ])
        #expect(try await send(.put, "", Self.report(3, token, "LINE_ITEM", [restated])) == (200, Self.accepted(3)))
        let retracted = refund(
            "refund",
            [
                "restatement": .bool(true), "erroneouslySubmitted": .bool(true),
                "netAmountTaxExclusive": .integer(7000),
            ])
        #expect(try await send(.put, "", Self.report(4, token, "LINE_ITEM", [retracted])) == (200, Self.accepted(4)))
        let again = try await send(.put, "", Self.report(5, token, "LINE_ITEM", [retracted]))
        #expect(try Self.mistakes(again.text) == ["30 erroneouslySubmitted"])

        let known = try await send(.get, "/\(Self.request(2).uppercased())")
        #expect(known.status == 200)
        let retrieved = try JSONParser.parse(Array(known.text.utf8))
        #expect(retrieved == Self.report(2, token, "LINE_ITEM", [refund()]))
        let unknown = try await send(.get, "/\(Self.request(5))")
        #expect(
            unknown == (
                400,
                #"{"errorCode":3,"errorMessage":"The referenced value was not found.","fieldName":"requestIdentifier"}"#
            ))
        #expect(try garden.store.read { try $0.externalPurchases.tokens().map(\.status) } == ["LINE_ITEM"])
    }

    @Test func `a subscription's start and renewal are accepted in one report`() async throws {
        let renewal = period(
            "renewal", "RENEWAL",
            ["referenceLineItemId": "start", "subscriptionDaysOfPaidService": .integer(30)])
        let token = try token(.services)
        let answer = try await send(
            .put, "", Self.report(1, token, "LINE_ITEM", [period("start", "SUBSCRIPTION_START"), renewal]))
        #expect(answer == (200, Self.accepted(1)))
        let another = period("third", "RENEWAL", ["referenceLineItemId": "renewal"])
        let refused = try await send(.put, "", Self.report(2, token, "LINE_ITEM", [another]))
        #expect(try Self.mistakes(refused.text) == ["14 referenceLineItemId"])
    }

    private static let wrongSales: [(changes: [String: JSONValue?], mistakes: [String])] = [
        (["lineItemId": nil as JSONValue?, "quantity": nil as JSONValue?], ["4 lineItemId", "4 quantity"]),
        (["referenceLineItemId": "x"], ["5 referenceLineItemId"]),
        (["subscriptionEvent": "RENEWAL"], ["5 subscriptionEvent"]),
        (["lineItemId": .string(String(repeating: "x", count: 129))], ["19 lineItemId"]),
        (["creationDate": .integer(1_706_047_472)], ["27 creationDate"]),
        (["creationDate": .integer(4_000_000_000_000)], ["6 creationDate"]),
        (["taxAmount": .integer(1999)], ["11 amountTaxInclusive"]),
        (["taxAmount": .integer(-2000), "amountTaxInclusive": .integer(6000)], ["15 taxAmount"]),
        (["quantity": .integer(0)], ["16 quantity"]),
        (["netAmountTaxExclusive": .integer(7999)], ["12 netAmountTaxExclusive"]),
        (["reportingCurrency": "XXX"], ["7 reportingCurrency"]), (["taxCountry": "ES"], ["7 taxCountry"]),
        (["reportingCurrency": "USD"], ["18 reportingCurrency"]), (["exchangeRate": .integer(1)], ["5 exchangeRate"]),
        (["pricingCurrency": "ISK"], ["4 exchangeRate"]),
        (["pricingCurrency": "ISK", "exchangeRate": .integer(0)], ["16 exchangeRate"]),
        (["restatement": .bool(true)], ["3 lineItemId"]),
        (["erroneouslySubmitted": .bool(true)], ["20 erroneouslySubmitted"]),
    ]

    @Test(arguments: wrongSales)
    func `a report with mistakes is answered with all of them, and has no effect`(
        changes: [String: JSONValue?], mistakes: [String]
    ) async throws {
        let token = try token()
        let wrong = try await send(.put, "", Self.report(1, token, "LINE_ITEM", [sale("sale", changes)]))
        #expect(wrong.status == 400)
        #expect(try Self.mistakes(wrong.text) == mistakes)
        #expect(try await send(.get, "/\(Self.request(1))").status == 400)
        // The identifier of a refused report is used again.
        #expect(try await send(.put, "", Self.report(1, token, "LINE_ITEM", [sale()])) == (200, Self.accepted(1)))
    }

    private static let wrongRefunds: [(changes: [String: JSONValue?], mistakes: [String])] = [
        (["referenceLineItemId": nil as JSONValue?], ["4 referenceLineItemId"]),
        (["referenceLineItemId": "never"], ["3 referenceLineItemId"]),
        (["referenceLineItemId": "refund"], ["13 referenceLineItemId"]), (["quantity": .integer(1)], ["5 quantity"]),
        (["taxCountry": "FRA"], ["23 taxCountry"]),
        (["pricingCurrency": "USD", "reportingCurrency": "USD"], ["2 reportingCurrency", "32 pricingCurrency"]),
        (["netAmountTaxExclusive": .integer(8000)], ["12 netAmountTaxExclusive"]),
        (["lineItemId": "sale", "referenceLineItemId": "sale"], ["13 referenceLineItemId"]),
    ]

    @Test(arguments: wrongRefunds)
    func `a refund agrees with its purchase`(changes: [String: JSONValue?], mistakes: [String]) async throws {
        let token = try token()
        #expect(try await send(.put, "", Self.report(1, token, "LINE_ITEM", [sale()])).status == 200)
        let wrong = try await send(.put, "", Self.report(2, token, "LINE_ITEM", [refund("refund", changes)]))
        #expect(try Self.mistakes(wrong.text) == mistakes)
    }

    @Test func `the net amounts of a purchase and a refund in one report are the same`() async throws {
        let token = try token()
        let wrong = try await send(.put, "", Self.report(1, token, "LINE_ITEM", [sale(), refund()]))
        #expect(try Self.mistakes(wrong.text) == ["24 netAmountTaxExclusive"])
        let right = [sale("sale", ["netAmountTaxExclusive": .integer(6000)]), refund()]
        #expect(try await send(.put, "", Self.report(1, token, "LINE_ITEM", right)).status == 200)
        let twice = [sale("other"), sale("other")]
        let repeated = try await send(.put, "", Self.report(2, token, "LINE_ITEM", twice))
        #expect(try Self.mistakes(repeated.text) == ["1 lineItemId"])
        let known = try await send(.put, "", Self.report(2, token, "LINE_ITEM", [sale("sale")]))
        #expect(try Self.mistakes(known.text).contains("1 lineItemId"))
        let retracted = sale(
            "sale",
            [
                "restatement": .bool(true), "erroneouslySubmitted": .bool(true),
                "netAmountTaxExclusive": .integer(0),
            ])
        let referenced = try await send(.put, "", Self.report(2, token, "LINE_ITEM", [retracted]))
        #expect(try Self.mistakes(referenced.text).contains("22 erroneouslySubmitted"))
    }

    @Test func `a restatement is possible for a year, with the date of the line item`() async throws {
        let token = try token()
        let (first, date) = (sale(), garden.store.now)
        #expect(try await send(.put, "", Self.report(1, token, "LINE_ITEM", [first])).status == 200)
        func restated(_ date: Timestamp) -> JSONValue {
            sale(
                "sale", ["restatement": .bool(true), "creationDate": .integer(date.millisecondsSince1970)])
        }
        _ = try garden.store.advance(seconds: 365 * 86_400)
        let moved = try await send(.put, "", Self.report(2, token, "LINE_ITEM", [restated(date.adding(seconds: 1))]))
        #expect(try Self.mistakes(moved.text) == ["38 creationDate"])
        #expect(try await send(.put, "", Self.report(2, token, "LINE_ITEM", [restated(date)])).status == 200)
        _ = try garden.store.advance(seconds: 1)
        let late = try await send(.put, "", Self.report(3, token, "LINE_ITEM", [restated(date)]))
        #expect(try Self.mistakes(late.text) == ["39 creationDate"])
    }

    @Test func `the status fits the token and its line items`() async throws {
        let (plain, custom) = (try token(), try token(.acquisition))
        for (token, status, items, mistakes) in [
            (plain, "LINE_ITEM", nil, ["9 status"]), (plain, "LINE_ITEM", [], ["9 status"]),
            (plain, "NO_LINE_ITEM", [sale()], ["10 status"]), (plain, "DUPLICATE_TOKEN", nil, ["37 status"]),
        ] as [(ExternalPurchaseToken, String, [JSONValue]?, [String])] {
            let wrong = try await send(.put, "", Self.report(1, token, status, items))
            #expect(try Self.mistakes(wrong.text) == mistakes)
        }
        #expect(try await send(.put, "", Self.report(1, custom, "DUPLICATE_TOKEN")).status == 200)
        #expect(try await send(.put, "", Self.report(2, plain, "UNRECOGNIZED_TOKEN")).status == 200)
        #expect(try await send(.put, "", Self.report(3, plain, "NO_LINE_ITEM")).status == 200)
        #expect(try await send(.put, "", Self.report(4, plain, "LINE_ITEM", [sale()])).status == 200)
        let back = try await send(.put, "", Self.report(5, plain, "NO_LINE_ITEM"))
        #expect(try Self.mistakes(back.text) == ["8 status"])
        let twice = try await send(.put, "", Self.report(4, plain, "LINE_ITEM", [sale("other")]))
        #expect(try Self.mistakes(twice.text) == ["1 requestIdentifier"])
        let empty = try await send(.put, "", .object([:]))
        #expect(try Self.mistakes(empty.text) == ["4 requestIdentifier", "4 externalPurchaseId", "4 status"])
        let unknown = Self.object([
            "requestIdentifier": .string(Self.request(6)), "externalPurchaseId": "x", "status": "NO_LINE_ITEM",
        ])
        #expect(try Self.mistakes(try await send(.put, "", unknown).text) == ["3 externalPurchaseId"])
    }

    @Test func `a custom link token is for transactions of its active period`() async throws {
        let token = try token(.services)
        let early = sale(
            "early", ["creationDate": .integer(token.creationDate.adding(seconds: -1).millisecondsSince1970)])
        let answer = try await send(.put, "", Self.report(1, token, "LINE_ITEM", [early]))
        #expect(try Self.mistakes(answer.text) == ["36 creationDate"])
    }

    @Test func `a body of another form and a caller without a token are refused without an error's number`()
        async throws
    {
        let token = try token()
        for wrong in [
            JSONValue.array([]), Self.report(1, token, "OTHER"),
            Self.object(["requestIdentifier": .integer(1)]),
            Self.report(1, token, "LINE_ITEM", [sale("sale", ["eventType": "GIFT"])]),
            Self.report(1, token, "LINE_ITEM", [sale("sale", ["quantity": "6"])]),
        ] {
            let answer = try await send(.put, "", wrong)
            #expect(answer.status == 400 && !answer.text.contains(#""errors""#), "\(answer.text)")
        }
        let anonymous = try await send(.put, "", Self.report(1, token, "NO_LINE_ITEM"), to: (garden, "Bearer x"))
        #expect(anonymous.status == 401)
    }

    @Test func `the store tells of a custom link token, and of tokens that nobody has reported`() async throws {
        let (plain, custom) = (try token(), try token(.services))
        func told() throws -> [String] {
            try garden.notifications().map { told in
                guard case .object(let part)? = told.fields["externalPurchaseToken"],
                    let identifier = part.text("externalPurchaseId")
                else { return "" }
                return "\(told.subtype ?? "") \(identifier == plain.externalPurchaseId ? "plain" : "custom")"
            }
        }
        #expect(try told() == ["CREATED custom"])
        #expect(custom.expirationDate == custom.creationDate.adding(seconds: 3600))
        _ = try garden.store.advance(seconds: 3600)
        #expect(try told() == ["CREATED custom", "UNREPORTED custom"])
        let reported = try token()
        #expect(try await send(.put, "", Self.report(1, reported, "NO_LINE_ITEM")).status == 200)
        _ = try garden.store.advance(seconds: 20 * 86_400)
        #expect(try told() == ["CREATED custom", "UNREPORTED custom", "UNREPORTED plain"])
        let dates = try garden.store.notifications().map(\.date)
        #expect(dates.last == plain.creationDate.adding(days: 10))
        #expect(try garden.store.reset().notifications == 3)
        #expect(try garden.store.read { try $0.externalPurchases.tokens() }.isEmpty)
    }

    @Test func `an active token of production is reminded of each month, until it is reported as a duplicate`()
        async throws
    {
        let other = try Self.garden(.production)
        let token = try token(.services, at: other.0)
        #expect(!token.externalPurchaseId.hasPrefix("SANDBOX"))
        _ = try other.0.store.advance(seconds: 60 * 86_400)
        let subtypes: [Subtype?] = [.created, .activeTokenReminder, .activeTokenReminder]
        #expect(try other.0.store.notifications().map(\.subtype) == subtypes)
        // The caller's token is valid for five minutes by the machine's clock, which stands still.
        let answer = try await send(.put, "", Self.report(1, token, "DUPLICATE_TOKEN"), to: (other.0, other.1))
        #expect(answer == (200, Self.accepted(1)))
        _ = try other.0.store.advance(seconds: 400 * 86_400)
        #expect(try other.0.store.notifications().map(\.subtype) == subtypes)
    }

    @Test(arguments: [ExternalPurchaseToken.Kind.inApp, .linkOut])
    func `a token of Japan is told of at once and after ten days, and is no duplicate`(kind: ExternalPurchaseToken.Kind)
        async throws
    {
        let other = try Self.garden(.production)
        let token = try token(kind, at: other.0)
        let refused = try await send(.put, "", Self.report(1, token, "DUPLICATE_TOKEN"), to: (other.0, other.1))
        #expect(try Self.mistakes(refused.text) == ["37 status"])
        _ = try other.0.store.advance(seconds: 30 * 86_400)
        let told = try other.0.store.notifications()
        #expect(told.map(\.subtype) == [.created, .unreported, .activeTokenReminder])
        #expect(told.map(\.date) == [0, 10, 30].map { token.creationDate.adding(days: $0) })
    }

    @Test func `the app's text of a token has the fields that the store tells of it`() throws {
        let token = try token(.acquisition)
        let bytes = try #require(Base64.decode(token.text.utf8, .urlSafe))
        guard case .object(let fields) = try JSONParser.parse(bytes) else {
            Issue.record("The token is no object")
            return
        }
        let told = try #require(try garden.notifications().first)
        guard case .object(let part)? = told.fields["externalPurchaseToken"] else {
            Issue.record("The notification has no token")
            return
        }
        #expect(JSONValue.object(fields) == .object(part))
        #expect(fields.text("tokenType") == "ACQUISITION")
        #expect(fields.text("externalPurchaseId") == token.externalPurchaseId)
    }
}
