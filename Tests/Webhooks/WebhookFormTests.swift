import Features
import Ledger
import Proofs
import Testing

/// The forms of a message, the types that say what happened, and the filters by type.
@Suite struct WebhookFormTests {
    private typealias Fixture = RevenueCatFixture

    private static let notice = WebhookNotice(
        identifier: "msg_1", type: "subscription.renewed", happenedAt: Fixture.day(1), app: Fixture.app,
        reference: "2", data: Array(#"{"items":[],"user":{"issuer":"","name":"alice"}}"#.utf8),
        sentence: "alice & <!channel>: Transaction 2 grants garden.premium.monthly.")
    private static let test = WebhookNotice(
        identifier: "msg_2", type: "test", happenedAt: Fixture.day(1), sentence: "A test.")

    struct Form: Sendable, CustomTestStringConvertible {
        let format: WebhookFormat
        let mediaType: String
        /// The body of the message, and that of a test.
        let body: String
        let test: String

        var testDescription: String { format.rawValue }
    }

    static let forms = [
        Form(
            format: .standard, mediaType: "application/json",
            body: """
                {"data":{"items":[],"user":{"issuer":"","name":"alice"}},"timestamp":"2027-01-01T00:00:00Z",\
                "type":"subscription.renewed"}
                """,
            test: #"{"data":{},"timestamp":"2027-01-01T00:00:00Z","type":"test"}"#),
        Form(
            format: .cloudEvents, mediaType: "application/cloudevents+json",
            body: """
                {"data":{"items":[],"user":{"issuer":"","name":"alice"}},"datacontenttype":"application/json",\
                "id":"msg_1","source":"/till/com.example.garden","specversion":"1.0","subject":"2",\
                "time":"2027-01-01T00:00:00Z","type":"subscription.renewed"}
                """,
            test: """
                {"data":{},"datacontenttype":"application/json","id":"msg_2","source":"/till","specversion":"1.0",\
                "time":"2027-01-01T00:00:00Z","type":"test"}
                """),
        Form(
            format: .slack, mediaType: "application/json",
            body: """
                {"mrkdwn":false,"text":"alice &amp; &lt;!channel&gt;: Transaction 2 grants garden.premium.monthly.",\
                "unfurl_links":false,"unfurl_media":false}
                """,
            test: #"{"mrkdwn":false,"text":"A test.","unfurl_links":false,"unfurl_media":false}"#),
    ]

    @Test(arguments: forms) func `each form has its body and its media type`(_ form: Form) {
        #expect(form.format.mediaType == form.mediaType)
        #expect(String(decoding: form.format.body(of: Self.notice), as: UTF8.self) == form.body)
        #expect(String(decoding: form.format.body(of: Self.test), as: UTF8.self) == form.test)
    }

    @Test func `a test in RevenueCat's format has its type`() {
        let body = String(decoding: WebhookFormat.revenueCat.body(of: Self.test), as: UTF8.self)
        #expect(body.contains(#""event_timestamp_ms":1798761600000"#) && body.contains(#""type":"TEST""#))
        #expect(Set(Self.forms.map(\.format)).union([.revenueCat]) == Set(WebhookFormat.allCases))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fixture: RevenueCatFixture
        let type: MessageType
    }

    private static func revoked(_ reason: String? = nil, refund: Int64? = nil) -> RevenueCatFixture {
        Fixture(.revoked, "1", reason: reason).having("1", from: 1, to: 31, refundedOn: reason == nil ? 5 : nil).with {
            let entry = $0.entry
            $0.entry = AuditEntry(
                happenedAt: entry.happenedAt, event: entry.event, actor: entry.actor, origin: entry.origin,
                reference: entry.reference, subject: entry.subject, reason: reason,
                measure: refund.map { .refund(Price(milliunits: $0, currency: "EUR"), at: entry.happenedAt) })
        }
    }

    static let cases = [
        Case(
            testDescription: "a product without an end",
            fixture: Fixture(.granted, "1", "garden.gate").having(
                "1", "garden.gate", type: .nonConsumable, from: 1, to: nil),
            type: .productPurchased),
        Case(
            testDescription: "the first period", fixture: Fixture(.granted, "1").having("1", from: 1, to: 31),
            type: .subscriptionPurchased),
        Case(
            testDescription: "a later period",
            fixture: Fixture(.granted, "2").having("1", from: 1, to: 31).having("2", from: 31, to: 61),
            type: .subscriptionRenewed),
        Case(
            testDescription: "the period after a pause",
            fixture: Fixture(.granted, "2").having("1", from: 1, to: 31).having("2", from: 41, to: 71)
                .with { $0.isAfterPause = true },
            type: .subscriptionResumed),
        Case(
            testDescription: "a withdrawn revocation",
            fixture: Fixture(.granted, "1").having("1", from: 1, to: 31)
                .with { $0.revocation = Fixture.entry(.revoked, "1", on: 5) },
            type: .purchaseReinstated),
        Case(testDescription: "a refund", fixture: revoked(refund: 4990), type: .purchaseRefunded),
        Case(testDescription: "a refund of an unknown amount", fixture: revoked(), type: .purchaseRefunded),
        // The money has an event of its own, `paymentRefunded`.
        Case(testDescription: "the goods of a refund before", fixture: revoked(refund: 0), type: .purchaseRevoked),
        Case(testDescription: "a revocation by the team", fixture: revoked("a test"), type: .purchaseRevoked),
        Case(
            testDescription: "the end of family sharing",
            fixture: Fixture(.revoked, "1").having(
                "1", from: 1, to: 31, refundedOn: 5, [.inAppOwnershipType: .text("FAMILY_SHARED")]),
            type: .purchaseRevoked),
    ]

    @Test(arguments: cases) func `a type says what happened`(_ row: Case) {
        #expect(MessageType(row.fixture.facts) == row.type)
        #expect(row.fixture.facts.entry.event.rule.messages.contains(row.type))
    }

    @Test(
        arguments: [
            (WebhookFormat.standard, AuditEntry.Event.expired, nil, ["purchase.expired"]),
            (.slack, .revoked, nil, ["purchase.revoked", "purchase.refunded"]), (.cloudEvents, .spent, nil, []),
            (
                .standard, .granted, nil,
                [
                    "product.purchased", "subscription.purchased", "subscription.renewed", "subscription.resumed",
                    "purchase.reinstated",
                ]
            ),
            (.revenueCat, .expired, nil, ["EXPIRATION"]), (.slack, .endsSoon, nil, ["subscription.endsSoon"]),
            (.revenueCat, .endsSoon, nil, []), (.revenueCat, .revoked, .expiration, ["EXPIRATION"]),
            (.standard, .consentRescinded, nil, ["consent.rescinded"]), (.revenueCat, .consentRescinded, nil, []),
            (
                .revenueCat, .granted, nil,
                ["INITIAL_PURCHASE", "RENEWAL", "NON_RENEWING_PURCHASE", "REFUND_REVERSED"]
            ),
        ] as [(WebhookFormat, AuditEntry.Event, RevenueCatType?, [String])])
    func `a message has one of the types of its event`(
        _ format: WebhookFormat, _ event: AuditEntry.Event, _ companion: RevenueCatType?, _ types: [String]
    ) {
        #expect(format.types(of: event, companion) == types)
        #expect(Set(types).isSubset(of: format.types))
    }

    @Test func `a filter has the types of its format, each once`() throws {
        let types = try WebhookTypes(["purchase.refunded", "item.given", "item.given"], of: .slack)
        #expect(types.names == ["item.given", "purchase.refunded"])
        #expect(WebhookTypes(types.sqlValue) == types)
        for (name, format) in [("RENEWAL", WebhookFormat.standard), ("item.given", .revenueCat), ("", .slack)] {
            #expect(throws: WebhookError.typeUnknown(name, of: format)) { try WebhookTypes([name], of: format) }
        }
    }
}
