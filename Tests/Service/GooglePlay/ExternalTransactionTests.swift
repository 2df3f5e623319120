import Entitlements
import Foundation
import HTTPSupport
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// External transactions that a back end reports, and a local Google Play to which they are passed on.
@Suite struct ExternalTransactionTests {
    private static let path = "/v1/google/external-transactions"

    private static func amount(_ micros: String) -> JSONValue {
        .object(["currency": "USD", "priceMicros": .string(micros)])
    }

    /// A sale of 9.99 with 0.50 of tax, which was completed now.
    private static func sale(
        _ identifier: String, _ fixture: GooglePlayFixture, _ changes: [String: JSONValue?] = [:],
        in program: BillingProgram = .userChoiceBilling
    ) throws -> JSONValue {
        var members: [String: JSONValue] = [
            "externalTransactionId": .string(identifier),
            "transactionTime": .string(fixture.garden.clock.now().rfc3339),
            "originalPreTaxAmount": amount("9990000"), "originalTaxAmount": amount("500000"),
            "userTaxAddress": .object(["regionCode": "US"]),
            "oneTimeTransaction": .object(["externalTransactionToken": .string(try fixture.externalToken(in: program))]
            ),
        ]
        for (name, value) in changes { members[name] = value }
        return object(members)
    }

    private static func object(_ members: [String: JSONValue]) -> JSONValue {
        var object = JSONObject()
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { _ = object.add(name, value) }
        return .object(object)
    }

    private static func series(_ members: [String: JSONValue]) -> [String: JSONValue?] {
        let subscription = JSONValue.object(["subscriptionType": "RECURRING"])
        return [
            "oneTimeTransaction": nil as JSONValue?,
            "recurringTransaction": object(
                members.merging(["externalSubscription": subscription]) { given, _ in given }),
        ]
    }

    private static func refund(_ fixture: GooglePlayFixture, _ part: (id: String, micros: String)? = nil) -> JSONValue {
        var members: [String: JSONValue] = ["refundTime": .string(fixture.garden.clock.now().rfc3339)]
        if let part {
            members["refundId"] = .string(part.id)
            members["refundPreTaxAmount"] = amount(part.micros)
        }
        return object(members)
    }

    private static func reports(_ service: PlayService, _ query: String = "") async throws
        -> [ExternalTransactionResource]
    {
        try await service.send(.get, path + query).decoded(List<ExternalTransactionResource>.self).elements
    }

    private static func passOn(_ service: PlayService) async throws {
        try await service.app.externalTransactionReporter(metrics: service.metrics, logger: ServiceFixture.logger)
            .perform()
    }

    @Test func `a report is recorded, passed on once, and seen at Google Play`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let sale = try Self.sale("sale-1", fixture)
            let answer = try await service.send(.post, Self.path, sale)
            #expect(answer.status == 201)
            let recorded = try answer.decoded(ExternalTransactionResource.self)
            #expect(recorded.state == "waiting" && recorded.kind == "sale" && recorded.attempts == 0)
            #expect(recorded.packageName == TestGarden.bundleIdentifier)
            await #expect(throws: PlayDeveloperError.self) {
                _ = try await service.app.client.externalTransaction("sale-1")
            }
            try await Self.passOn(service)
            let known = try await service.app.client.externalTransaction("sale-1")
            #expect(known.preTaxMicros == 9_990_000 && !known.isCanceled)

            let again = try await service.send(.post, Self.path, sale)
            #expect(again.status == 201)
            #expect(try again.decoded(ExternalTransactionResource.self).state == "passedOn")
            let other = try Self.sale("sale-1", fixture, ["originalTaxAmount": Self.amount("0")])
            let conflict = try await service.send(.post, Self.path, other)
            #expect(conflict.status == 409 && conflict.code == "externalTransactionDiffers")
            fixture.advance(seconds: 60)
            try await Self.passOn(service)
            #expect(try await Self.reports(service).map(\.attempts) == [1])
            #expect(
                service.metrics.text(queueDepth: 0).contains(
                    #"till_external_transactions_total{outcome="accepted",code=""} 1"#))
            // Nothing is granted by it.
            #expect(try await service.transactions().isEmpty)
        }
    }

    @Test func `refunds follow their sale, a part first, then the rest`() async throws {
        try await GooglePlayFixture.run { fixture in
            let offline = try await fixture.service(isReachable: false)
            let refunds = "\(Self.path)/sale-1/refunds"
            let part = Self.refund(fixture, ("part-1", "990000"))
            #expect(try await offline.send(.post, refunds, part).code == "externalTransactionUnknown")
            #expect(try await offline.send(.post, Self.path, Self.sale("sale-1", fixture)).status == 201)
            #expect(try await offline.send(.post, refunds, part).status == 201)
            #expect(try await offline.send(.post, refunds, part).status == 201)
            let other = Self.refund(fixture, ("part-1", "1"))
            #expect(try await offline.send(.post, refunds, other).code == "externalTransactionDiffers")
            fixture.advance(seconds: 1)
            #expect(try await offline.send(.post, refunds, Self.refund(fixture)).status == 201)
            try await Self.passOn(offline)
            let waiting = try await Self.reports(offline, "?state=waiting")
            #expect(waiting.map(\.kind) == ["fullRefund", "partialRefund", "sale"])
            #expect(waiting.map(\.attempts) == [0, 0, 1])
            #expect(waiting.last?.lastError?.contains("does not answer") == true)

            // The pauses survive the service.
            let service = try await fixture.service()
            try await Self.passOn(service)
            #expect(try await Self.reports(service, "?state=passedOn").isEmpty)
            for (seconds, passed) in [(20, ["sale"]), (30, ["partialRefund", "sale"])] as [(Int64, [String])] {
                fixture.advance(seconds: seconds)
                try await Self.passOn(service)
                #expect(try await Self.reports(service, "?state=passedOn").map(\.kind) == passed)
            }
            #expect(try await service.app.client.externalTransaction("sale-1").preTaxMicros == 9_000_000)
            fixture.advance(seconds: 30)
            try await Self.passOn(service)
            #expect(try await Self.reports(service, "?state=waiting").isEmpty)
            #expect(try await service.app.client.externalTransaction("sale-1").isCanceled)
        }
    }

    @Test func `a refund whose sale is gone is a fault`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            #expect(try await service.send(.post, Self.path, Self.sale("sale-1", fixture)).status == 201)
            let part = Self.refund(fixture, ("part-1", "990000"))
            #expect(try await service.send(.post, "\(Self.path)/sale-1/refunds", part).status == 201)
            let reports = try await service.entitlements.externalTransaction(
                "sale-1", of: TestGarden.bundleIdentifier, in: .localPlay, limit: 9)
            let refund = try #require(reports.last)
            #expect(try await service.app.purchases.preTaxMicros(after: refund) == 9_000_000)
            try await service.entitlements.ledger.write {
                _ = try $0.database.execute("DELETE FROM external_transaction WHERE refund_id = ''", [])
            }
            await #expect(throws: BrokenInvariant.self) {
                try await service.app.purchases.preTaxMicros(after: refund)
            }
        }
    }

    /// A step of an attempt, after which the service ends.
    enum Step: CaseIterable {
        case recorded, begun, sent
    }

    @Test(arguments: Step.allCases)
    func `nothing is lost and nothing happens twice if the service ends after a step`(step: Step) async throws {
        try await GooglePlayFixture.run { fixture in
            let reports: [(path: String, body: JSONValue)] = try [
                (Self.path, Self.sale("sale-1", fixture)),
                ("\(Self.path)/sale-1/refunds", Self.refund(fixture, ("part-1", "990000"))),
                ("\(Self.path)/sale-1/refunds", Self.refund(fixture, ("part-2", "990000"))),
                ("\(Self.path)/sale-1/refunds", Self.refund(fixture)),
            ]
            for (number, report) in reports.enumerated() {
                let ended = try await fixture.service()
                #expect(try await ended.send(.post, report.path, report.body).status == 201)
                try await Self.attempt(upTo: step, ended)
                fixture.advance(seconds: 60)
                let service = try await fixture.service()
                try await Self.passOn(service)
                let known = try await Self.reports(service, "?state=passedOn")
                #expect(known.count == number + 1)
                let left = try await service.app.client.externalTransaction("sale-1").preTaxMicros
                #expect(left == [9_990_000, 9_000_000, 8_010_000, 0][number])
            }
        }
    }

    /// Performs the steps of an attempt up to one.
    private static func attempt(upTo step: Step, _ service: PlayService) async throws {
        guard step != .recorded else { return }
        let (purchases, client) = (service.app.purchases, service.app.client)
        let due = try await purchases.externalTransactionsToPassOn(in: .localPlay, limit: 9).due
        let report = try #require(due.first)
        #expect(due.count == 1)
        #expect(try await purchases.beginAttempt(of: report))
        guard step == .sent else { return }
        if report.key.part == .sale {
            try await client.report(externalTransaction: "sale-1", report.content, within: .schedule)
        } else {
            try await client.refund(externalTransaction: "sale-1", report.content, within: .schedule)
        }
    }

    @Test func `what Google Play refuses is listed with its reason, and not sent again`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let continued = Self.series(["initialExternalTransactionId": "never-reported"])
            #expect(
                try await service.send(.post, Self.path, Self.sale("month-2", fixture, continued)).status == 201)
            try await Self.passOn(service)
            let refused = try #require(try await Self.reports(service, "?state=refused").first)
            #expect(refused.externalTransactionId == "month-2" && refused.attempts == 1)
            let reason = "400 invalidValue recurringTransaction.initialExternalTransactionId"
            #expect(refused.lastError == "Google Play answered with \(reason).")
            #expect(
                service.metrics.text(queueDepth: 0).contains(
                    #"till_external_transactions_total{outcome="refused",code="googlePlayRefused"} 1"#))
            func duties() async throws -> OpenDuties {
                try await service.entitlements.openDuties([.externalTransaction: [.localPlayProduction]])
            }
            #expect(try await duties().due.map(\.subject) == ["month-2"])
            #expect(try await duties().due.map(\.isRefused) == [true])
            fixture.advance(seconds: 3600)
            try await Self.passOn(service)
            #expect(try await Self.reports(service).map(\.attempts) == [1])

            // The correction has the identifier, and the deadline.
            let token = try fixture.externalToken(in: .userChoiceBilling)
            let corrected = try Self.sale(
                "month-2", fixture, Self.series(["externalTransactionToken": .string(token)]))
            #expect(try await service.send(.post, Self.path, corrected).status == 201)
            #expect(try await duties().due.map(\.isRefused) == [false])
            #expect(try await duties().due.first?.deadline == fixture.garden.clock.now().adding(seconds: 23 * 3600))
            try await Self.passOn(service)
            #expect(try await Self.reports(service).map(\.state) == ["passedOn"])
            #expect(try await duties().isEmpty)
        }
    }

    @Test func `what Google Play refuses and nobody corrects is missed, and forgotten after a week`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let continued = Self.series(["initialExternalTransactionId": "never-reported"])
            #expect(
                try await service.send(.post, Self.path, Self.sale("month-2", fixture, continued)).status == 201)
            try await Self.passOn(service)
            for (days, news, all) in [(1, 1, 1), (1, 0, 1), (6, 0, 0)] as [(Int64, Int, Int)] {
                fixture.advance(days: days)
                let duties = try await service.entitlements.openDuties([.externalTransaction: [.localPlayProduction]])
                #expect(duties.counts[.externalTransaction]?.newlyMissed == news && duties.missed.count == all)
            }
        }
    }

    private static let offer = JSONValue.object(["linkType": "LINK_TO_DIGITAL_CONTENT_OFFER"])

    @Test func `the details of a program are shown and reach Google Play, and the token is not shown`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            try fixture.play.perform {
                try $0.register(
                    ExternalApp(
                        packageName: TestGarden.bundleIdentifier, installedAppPackage: "com.example.game",
                        category: .game))
            }
            let programs: [String: BillingProgram] = ["link": .externalContentLink, "download": .externalOffer]
            let sales: [(String, [String: JSONValue?], program: String, link: String?)] = [
                ("media", ["transactionProgramCode": .integer(11)], "alternativeBilling", nil),
                (
                    "link", ["externalContentLinkDetails": Self.offer], "externalContentLinks",
                    "LINK_TO_DIGITAL_CONTENT_OFFER"
                ),
                (
                    "download",
                    [
                        "originalPreTaxAmount": Self.amount("0"), "originalTaxAmount": Self.amount("0"),
                        "externalOfferDetails": .object([
                            "linkType": "LINK_TO_APP_DOWNLOAD", "installedAppPackage": "com.example.game",
                            "installedAppCategory": "GAME",
                        ]),
                        "userTaxAddress": .object(["regionCode": "DE"]),
                    ], "externalOffers", "LINK_TO_APP_DOWNLOAD"
                ),
            ]
            for (identifier, changes, program, link) in sales {
                let sale = try Self.sale(identifier, fixture, changes, in: programs[identifier] ?? .userChoiceBilling)
                let answer = try await service.send(.post, Self.path, sale)
                #expect(answer.status == 201, "\(identifier)")
                let recorded = try answer.decoded(ExternalTransactionResource.self)
                #expect((recorded.program, recorded.linkType) == (program, link))
                let text = String(decoding: answer.jsonData, as: UTF8.self)
                #expect(!text.contains("externalTransactionToken") && text.contains("oneTimeTransaction"))
            }
            try await Self.passOn(service)
            #expect(try await Self.reports(service, "?state=passedOn").count == sales.count)
            let known = try fixture.play.perform { books in
                try sales.map { try books.reported($0.0, of: TestGarden.bundleIdentifier) }
            }
            #expect(known.map(\.transactionProgramCode) == [11, nil, nil])
            #expect(known[1].externalContentLinkDetails?.linkType == "LINK_TO_DIGITAL_CONTENT_OFFER")
            #expect(known[2].externalOfferDetails?.installedAppCategory == "GAME")
        }
    }

    @Test func `a sale in a downloaded app is passed on after the download`() async throws {
        try await GooglePlayFixture.run { fixture in
            let offline = try await fixture.service(isReachable: false)
            let download = try Self.sale(
                "download", fixture,
                [
                    "originalPreTaxAmount": Self.amount("0"), "originalTaxAmount": Self.amount("0"),
                    "userTaxAddress": .object(["regionCode": "DE"]),
                    "externalOfferDetails": .object([
                        "linkType": "LINK_TO_APP_DOWNLOAD", "installedAppPackage": "com.example.game",
                        "installedAppCategory": "GAME",
                    ]),
                ])
            let sale = try Self.sale(
                "sale", fixture,
                [
                    "userTaxAddress": .object(["regionCode": "DE"]),
                    "externalOfferDetails": .object(["appDownloadEventExternalTransactionId": "download"]),
                ])
            for report in [download, sale] {
                #expect(try await offline.send(.post, Self.path, report).status == 201)
            }
            try await Self.passOn(offline)
            #expect(
                try await Self.reports(offline).filter { $0.attempts > 0 }.map(\.externalTransactionId) == ["download"])
        }
    }

    @Test func `a series is passed on after its first transaction`() async throws {
        try await GooglePlayFixture.run { fixture in
            let offline = try await fixture.service(isReachable: false)
            let token = JSONValue.string(try fixture.externalToken(in: .userChoiceBilling))
            let first = try Self.sale("month-1", fixture, Self.series(["externalTransactionToken": token]))
            let second = try Self.sale(
                "month-2", fixture, Self.series(["initialExternalTransactionId": "month-1"]))
            for sale in [first, second] {
                #expect(try await offline.send(.post, Self.path, sale).status == 201)
            }
            try await Self.passOn(offline)
            #expect(
                try await Self.reports(offline).filter { $0.attempts > 0 }.map(\.externalTransactionId) == ["month-1"])
            let service = try await fixture.service()
            for _ in 0..<2 {
                fixture.advance(seconds: 20)
                try await Self.passOn(service)
            }
            #expect(try await Self.reports(service, "?state=passedOn").count == 2)
        }
    }

    @Test func `an invalid report is refused before it is recorded`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let later = fixture.garden.clock.now().adding(seconds: 60).rfc3339
            let changes: [[String: JSONValue?]] = [
                ["externalTransactionId": "a b"], ["externalTransactionId": .string(String(repeating: "x", count: 64))],
                ["transactionTime": .string(later)], ["originalPreTaxAmount": Self.amount("1.5")],
                ["originalPreTaxAmount": Self.amount("-1")], ["originalTaxAmount": nil as JSONValue?],
                ["originalTaxAmount": .object(["currency": "EUR", "priceMicros": "1"])],
                ["userTaxAddress": .object(["regionCode": "usa"])], ["oneTimeTransaction": nil as JSONValue?],
                ["oneTimeTransaction": .object(["externalTransactionToken": ""])],
                ["recurringTransaction": .object([:])], Self.series([:]),
                Self.series(["migratedTransactionProgram": "MONTHLY"]),
                Self.series([
                    "externalTransactionToken": "t", "externalSubscription": .object(["subscriptionType": "YEARLY"]),
                ]),
                ["externalContentLinkDetails": .object([:])],
                ["externalContentLinkDetails": .object(["linkType": "LINK_TO_SHOP"])],
                ["externalContentLinkDetails": .object(["linkType": "LINK_TO_APP_DOWNLOAD"])],
                [
                    "externalContentLinkDetails": .object([
                        "linkType": "LINK_TO_APP_DOWNLOAD", "installedAppPackage": "a.b",
                    ])
                ],
                ["externalOfferDetails": Self.offer, "externalContentLinkDetails": Self.offer],
                ["externalOfferDetails": Self.offer, "transactionProgramCode": .integer(1)],
                ["externalOfferDetails": .object(["installedAppCategory": "TOOL"])],
                ["externalOfferDetails": .object(["unknown": "x"])], ["transactionProgramCode": .integer(-1)],
                ["transactionProgramCode": .integer(Int64(Int32.max) + 1)], ["transactionProgramCode": "1"],
            ]
            for change in changes {
                let answer = try await service.send(.post, Self.path, Self.sale("bad", fixture, change))
                #expect(answer.code == "bodyInvalid", "\(change)")
            }
            let other = try Self.sale("bad", fixture, ["packageName": "com.example.other"])
            #expect(try await service.send(.post, Self.path, other).code == "bundleIdentifierMismatch")
            #expect(try await Self.reports(service).map(\.externalTransactionId) == [])
        }
    }
}
