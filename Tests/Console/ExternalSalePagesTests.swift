import Entitlements
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The pages of sales outside the stores, with the forms of their reports.
@Suite struct ExternalSalePagesTests {
    private static let purchases = "/console/app-store/external-purchases"
    private static let transactions = "/console/app-store/external-transactions"
    private static let token = "SANDBOX_00000000-0000-4000-8000-000000000001"

    /// A console whose service knows a token of its app, with a key for the app.
    private static func console(hasKey: Bool = true) async throws -> ConsoleFixture {
        let fixture = try await ConsoleFixture()
        let app = fixture.shop.catalog.bundleIdentifier
        _ = try await fixture.entitlements.announce(
            ExternalPurchase.Token(
                identifier: token, type: "SERVICES", createdAt: fixture.shop.clock.now(), expiresAt: nil), of: app)
        if hasKey {
            fixture.services.reconciliations = [TestReconciliation(bundleIdentifier: app, checkpoint: nil)]
        }
        return fixture
    }

    private static func page(_ fixture: ConsoleFixture, _ more: String = "") -> String {
        "\(purchases)/\(token)?app=\(fixture.shop.catalog.bundleIdentifier)\(more)"
    }

    /// Sends a form of the page about a token.
    private static func send(
        _ form: String, _ fields: [String: String], by browser: Browser, _ fixture: ConsoleFixture,
        on more: String = ""
    ) async throws -> Browser.Page {
        let (page, action) = (page(fixture, more), "\(purchases)/\(token)/\(form)")
        let shown = try await browser.get(page)
        let address = try #require(
            shown.text.matches(of: /action="([^"]*)"/).map { String($0.1) }.first { $0.hasPrefix(action) })
        let request = try #require(shown.value(of: "request", inFormTo: address))
        let app = fixture.shop.catalog.bundleIdentifier
        return try await browser.post(
            address.replacing("&amp;", with: "&"), ["request": request, "app": app].merging(fields) { $1 }, from: page)
    }

    private static func sale(at fixture: ConsoleFixture) -> String {
        let date = fixture.shop.clock.now().millisecondsSince1970
        return """
            [{"lineItemId": "sale-1", "creationDate": \(date), "eventType": "BUY", "productType": "ONE_TIME_BUY",
              "productIdentifier": "garden.gate", "quantity": 1, "amountTaxInclusive": 10000,
              "amountTaxExclusive": 8000, "taxAmount": 2000, "netAmountTaxExclusive": 8000, "pricingCurrency": "EUR",
              "reportingCurrency": "EUR", "taxCountry": "ESP"}]
            """
    }

    private static func reports(_ fixture: ConsoleFixture) async throws -> [ExternalPurchaseReport] {
        try await fixture.entitlements.externalPurchaseReports(of: nil, in: nil, after: nil, limit: 9)
    }

    @Test func `support reports a sale outside the App Store and its refund, and a viewer only reads`() async throws {
        let fixture = try await Self.console()
        let (support, viewer) = (try await fixture.browser(.support), try await fixture.browser(.viewer))
        let list = try await viewer.get(Self.purchases)
        #expect(list.words.contains("Not reported") && list.has(Self.token))
        #expect(try await !viewer.get(Self.page(fixture)).has("Report to Apple"))
        let forbidden = try await viewer.post(
            "\(Self.purchases)/\(Self.token)/reports", ["status": "NO_LINE_ITEM"], from: Self.purchases)
        #expect(forbidden.status == 403)

        let sale = ["status": "LINE_ITEM", "line-items": Self.sale(at: fixture)]
        let answer = try await Self.send("reports", sale, by: support, fixture)
        #expect(answer.status == 303 && answer.location?.contains("done=requested") == true)
        let waiting = try await support.get(Self.page(fixture))
        #expect(waiting.words.contains("Waits for Apple") && waiting.has("sale-1") && waiting.has("EUR 8.00"))

        fixture.shop.clock.advance(milliseconds: 1000)
        let tooMuch = try await Self.send(
            "refunds", ["sale": "sale-1", "amount": "8.01", "tax": "0"], by: support, fixture)
        #expect(tooMuch.status == 400 && tooMuch.has("EUR 8.00"))
        let refund = ["sale": "sale-1", "amount": "2.50", "tax": "0.5"]
        #expect(try await Self.send("refunds", refund, by: support, fixture).status == 303)
        let item = try #require(try await Self.reports(fixture).first?.lineItems.first)
        #expect(item.text("eventType") == "REFUND" && item.text("referenceLineItemId") == "sale-1")
        for (field, amount) in [
            ("amountTaxExclusive", 2500), ("taxAmount", 500), ("amountTaxInclusive", 3000),
            ("netAmountTaxExclusive", 5500),
        ] as [(String, Int64)] {
            #expect(item[field] == .integer(amount), "\(field)")
        }
        #expect(try await Self.reports(fixture).allSatisfy { $0.reportedBy == "member support" })
        let korean = try await support.get(Self.page(fixture), headers: [.acceptLanguage: "ko"])
        #expect(korean.has("Apple의 응답을 기다림") && korean.has("EUR 5.50"))
        let all = try await fixture.entitlements.externalPurchases(of: nil, in: .waiting, after: nil, limit: 9)
        #expect(all.count == 1)
    }

    @Test func `a refused report is shown with Apple's mistakes, and corrected under its identifier`() async throws {
        let fixture = try await Self.console()
        let support = try await fixture.browser(.support)
        let sale = ["status": "LINE_ITEM", "line-items": Self.sale(at: fixture)]
        #expect(try await Self.send("reports", sale, by: support, fixture).status == 303)
        let report = try #require(try await Self.reports(fixture).first)
        try await fixture.entitlements.failed(
            report,
            .init(
                "Apple has answered.",
                mistakes: ExternalPurchaseReport.Refusal.Mistake.all(
                    in: try JSONParser.parse(
                        Array(#"[{"errorCode":12,"errorMessage":"Wrong.","fieldName":"netAmountTaxExclusive"}]"#.utf8)))
            ),
            isFinal: true)
        let refused = try await support.get(Self.page(fixture))
        #expect(refused.words.contains("Refused by Apple") && refused.has("netAmountTaxExclusive: Wrong."))
        #expect(try await support.get(Self.purchases + "?state=refused").has(Self.token))
        let correct = "&correct=\(report.key.requestIdentifier)"
        #expect(try await support.get(Self.page(fixture, correct)).has("sale-1"))
        let corrected = [
            "status": "LINE_ITEM", "line-items": Self.sale(at: fixture).replacing("garden.gate", with: "garden.door"),
        ]
        #expect(try await Self.send("reports", corrected, by: support, fixture, on: correct).status == 303)
        let after = try await Self.reports(fixture)
        #expect(after.map(\.key) == [report.key] && after.map(\.state) == [.waiting])

        // An accepted one is overwritten by another report.
        try await fixture.entitlements.recordAcceptance(of: try #require(after.first))
        let shown = try await support.get(Self.page(fixture, correct))
        #expect(shown.has("restatement") && !shown.has("value=\"\(report.key.requestIdentifier)\""))
    }

    @Test func `a wrong report is refused, and so is one without a key for Apple`() async throws {
        let fixture = try await Self.console()
        let support = try await fixture.browser(.support)
        for fields in [
            ["status": "LINE_ITEM", "line-items": "no JSON"], ["status": "LINE_ITEM", "line-items": "[{}]"],
            ["status": "LINE_ITEM"], ["status": "NO_LINE_ITEM", "line-items": Self.sale(at: fixture)],
            ["status": "GIFT"], ["status": "NO_LINE_ITEM", "request": "1"],
        ] {
            let answer = try await Self.send("reports", fields, by: support, fixture)
            #expect([400, 422].contains(answer.status), "\(fields)")
        }
        let other = ["status": "NO_LINE_ITEM", "app": "com.example.other"]
        #expect(try await Self.send("reports", other, by: support, fixture).status == 404)
        fixture.services.reconciliations = []
        let keyless = try await Self.send("reports", ["status": "NO_LINE_ITEM"], by: support, fixture)
        #expect(keyless.status == 422 && keyless.has("app-store-key"))
        #expect(try await Self.reports(fixture).isEmpty)
    }

    /// Reports a sale to Google Play as a back end does.
    private static func report(_ identifier: String, _ content: JSONObject, to fixture: ConsoleFixture) async throws {
        let now = fixture.shop.clock.now()
        let purchases = GooglePurchaseService(
            entitlements: fixture.entitlements, app: fixture.entitlements.apps.first,
            packageName: "com.example.garden", origins: [.localPlayProduction])
        _ = try await fixture.entitlements.record(
            ExternalTransactionReport(
                purchases.key(ofExternalTransaction: identifier, .sale, in: .localPlay),
                of: fixture.shop.catalog.bundleIdentifier, content, occurredAt: now, reportedAt: now, by: "K"))
    }

    @Test func `a sale outside Google Play is shown with its program, and refunded`() async throws {
        let fixture = try await ConsoleFixture()
        func amount(_ micros: String) -> JSONValue { .object(["currency": "USD", "priceMicros": .string(micros)]) }
        try await Self.report(
            "sale-1",
            [
                "originalPreTaxAmount": amount("9990000"), "originalTaxAmount": amount("500000"),
                "oneTimeTransaction": .object(["externalTransactionToken": "secret-of-the-app"]),
                "externalContentLinkDetails": .object(["linkType": "LINK_TO_DIGITAL_CONTENT_OFFER"]),
            ], to: fixture)
        let (support, viewer) = (try await fixture.browser(.support), try await fixture.browser(.viewer))
        let list = try await viewer.get(Self.transactions + "?state=waiting")
        #expect(list.words.contains("External content links (US)") && list.has("USD 9.99"))
        #expect(try await !viewer.get(Self.transactions + "?state=refused").has("sale-1"))
        let page = "\(Self.transactions)/sale-1?package=com.example.garden&realm=localPlay"
        let shown = try await viewer.get(page)
        #expect(shown.has("LINK_TO_DIGITAL_CONTENT_OFFER") && shown.words.contains("Digital content"))
        #expect(!shown.has("secret-of-the-app") && !shown.has("Report to Google"))

        let action = "\(Self.transactions)/sale-1/refunds"
        func refund(_ fields: [String: String], by browser: Browser) async throws -> Browser.Page {
            let time = String(fixture.shop.clock.now().rfc3339.prefix(19))
            let all = [
                "package": "com.example.garden", "realm": "localPlay", "time": time,
                "refund": "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10",
            ]
            return try await browser.post(action, all.merging(fields) { $1 }, from: Self.transactions)
        }
        #expect(try await refund([:], by: viewer).status == 403)
        for fields in [["amount": "much"], ["amount": "0"], ["time": "2099-01-01T00:00:00"], ["refund": "1"]] {
            #expect(try await refund(fields, by: support).status == 422, "\(fields)")
        }
        #expect(try await refund(["package": "com.example.other"], by: support).status == 404)
        for _ in 0..<2 { #expect(try await refund(["amount": "2.5"], by: support).status == 303) }
        fixture.shop.clock.advance(milliseconds: 1000)
        #expect(try await refund([:], by: support).status == 303)
        let reports = try await fixture.entitlements.externalTransaction(
            "sale-1", of: "com.example.garden", in: .localPlay, limit: 9)
        #expect(reports.map(\.preTaxMicros) == [9_990_000, 2_500_000, nil])
        #expect(reports.dropFirst().allSatisfy { $0.reportedBy == "member support" })
        let refunded = try await support.get(page)
        #expect(refunded.words.contains("Refund of all that is left") && !refunded.has("Report to Google"))
        #expect(try await support.get(page, headers: [.acceptLanguage: "ko"]).has("외부 콘텐츠 링크(미국)"))
    }
}
