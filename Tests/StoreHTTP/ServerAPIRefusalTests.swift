import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

/// The refusals of the App Store Server API, a row for each that Apple documents and the store can know. `TeamTokenTests` has
/// the refused tokens. `Documentation/Testing.md` has what the store does not refuse.
@Suite struct ServerAPIRefusalTests {
    /// A request, and Apple's answer to it.
    struct Row {
        let method: HTTPRequest.Method
        /// The path and query below `/inApps/`. As in the body, `{seeds}` stands for the value of that name.
        let path: String
        let body: [UInt8]
        /// The error's number, or the status of an answer without one.
        let code: Int

        var status: Int { code < 1000 ? code : code / 10_000 }
    }

    private static func row(_ method: HTTPRequest.Method, _ path: String, _ body: String, _ code: Int) -> Row {
        Row(method: method, path: path, body: Array(body.utf8), code: code)
    }

    private static func get(_ path: String, _ code: Int) -> Row { row(.get, path, "", code) }
    private static func delete(_ path: String, _ code: Int) -> Row { row(.delete, path, "", code) }
    private static func post(_ path: String, _ body: String, _ code: Int) -> Row { row(.post, path, body, code) }
    private static func put(_ path: String, _ body: String, _ code: Int) -> Row { row(.put, path, body, code) }

    /// A JSON object with changed members; nil leaves a member out.
    private static func json(_ members: [String: String], _ changes: [String: String?] = [:]) -> String {
        let changed = members.mapValues(Optional.some).merging(changes) { $1 }.compactMapValues { $0 }
        return "{\(changed.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
    }

    private static let unknown = "1234"
    /// A number in the form of an app transaction, which the store gives to no account.
    private static let otherApp = "712345678901231234"
    private static let uuid = "7f3c2a10-5b1e-4c8d-9a6f-2d4e8b0c1a35"

    // MARK: Transactions

    private static let transactions: [Row] = [
        get("v1/transactions/abc", 4_000_006), get("v1/transactions/{app}", 4_000_048),
        get("v1/transactions/{visitor}", 4_000_048), get("v1/transactions/\(unknown)", 4_040_010),
        get("v1/transactions/\(otherApp)", 4_040_010), get("v2/history/\(otherApp)", 4_040_010),
        get("v1/transactions/appTransactions/\(otherApp)", 4_040_010),
        get("v1/transactions/appTransactions/abc", 4_000_006),
        get("v1/transactions/appTransactions/\(unknown)", 4_040_010),
        get("v2/refund/lookup/abc", 4_000_006), get("v2/refund/lookup/\(unknown)", 4_040_010),
        get("v2/refund/lookup/{seeds}?revision=x", 4_000_005),
        get("v2/refund/lookup/{seeds}?revision=D1", 4_000_005),
        post("v1/transactions/abc/finish", "", 4_000_006), post("v1/transactions/{app}/finish", "", 4_000_048),
        post("v1/transactions/\(unknown)/finish", "", 4_040_010),
    ]

    private static let histories: [Row] = ["v1/history/", "v2/history/"].flatMap { path in
        [
            ("abc", 4_000_006), (unknown, 4_040_010), ("{seeds}?revision=nonsense", 4_000_005),
            ("{seeds}?revision=", 4_000_005), ("{seeds}?revision=A1&sort=DESCENDING", 4_000_005),
            ("{seeds}?startDate=yesterday", 4_000_015), ("{seeds}?startDate=-1", 4_000_015),
            ("{seeds}?startDate=1.5", 4_000_015), ("{seeds}?startDate=+1", 4_000_015),
            ("{seeds}?endDate=tomorrow", 4_000_016), ("{seeds}?startDate=2&endDate=1", 4_000_013),
            ("{seeds}?startDate=2&endDate=2", 4_000_013), ("{seeds}?sort=UP", 4_000_021),
            ("{seeds}?sort=ascending", 4_000_021), ("{seeds}?productType=Consumable", 4_000_022),
            ("{seeds}?productType=CONSUMABLE&productType=X", 4_000_022), ("{seeds}?productId=", 4_000_023),
            ("{seeds}?subscriptionGroupIdentifier=", 4_000_024), ("{seeds}?excludeRevoked=maybe", 4_000_025),
            ("{seeds}?inAppOwnershipType=OWNED", 4_000_026), ("{seeds}?revoked=1", 4_000_030),
        ].map { get(path + $0, $1) }
    }

    private static let accountTokens: [Row] =
        [
            ("abc", 4_000_006), ("{app}", 4_000_048), (unknown, 4_040_005), ("{renewed}", 4_000_187),
            ("{shared}", 4_000_185),
        ].map { put("v1/transactions/\($0)/appAccountToken", "{\"appAccountToken\":\"\(uuid)\"}", $1) }
        + [
            #"{"appAccountToken":"nobody"}"#, #"{"appAccountToken":""}"#, #"{"appAccountToken":null}"#, "{}",
        ].map { put("v1/transactions/{seeds}/appAccountToken", $0, 4_000_183) }
        + [
            "", "[", "[]", #"{"appAccountToken":1}"#,
        ].map { put("v1/transactions/{seeds}/appAccountToken", $0, 400) }

    // MARK: Consumption information

    private static let consumptionFields = [
        "customerConsented": "true", "sampleContentProvided": "false", "deliveryStatus": #""DELIVERED""#,
    ]

    private static func consumption(_ id: String, _ changes: [String: String?], _ code: Int) -> Row {
        put("v2/transactions/consumption/\(id)", json(consumptionFields, changes), code)
    }

    private static let consumption: [Row] = [
        consumption("abc", [:], 4_000_006), consumption("{app}", [:], 4_000_048),
        consumption(unknown, [:], 4_040_010), consumption("{shared}", [:], 4_000_185),
        consumption("{seeds}", ["customerConsented": "false"], 4_000_035),
        consumption("{seeds}", ["customerConsented": nil], 4_000_035),
        consumption("{seeds}", ["sampleContentProvided": nil], 4_000_041),
        consumption("{seeds}", ["deliveryStatus": #""LOST""#], 4_000_036),
        consumption("{seeds}", ["deliveryStatus": nil], 4_000_036),
        consumption("{seeds}", ["refundPreference": #""MAYBE""#], 4_000_044),
        consumption("{trial}", ["consumptionPercentage": "0"], 4_000_209),
        // Apple does not publish the numbers of these three.
        consumption("{seeds}", ["consumptionPercentage": "100001"], 4_000_000),
        consumption(
            "{seeds}", ["consumptionPercentage": "1", "deliveryStatus": #""UNDELIVERED_OTHER""#], 4_000_000),
        consumption("{seeds}", ["refundPreference": #""GRANT_PRORATED""#], 4_000_000),
        consumption("{seeds}", ["customerConsented": #""yes""#], 400),
        consumption("{seeds}", ["deliveryStatus": "0"], 400),
        put("v2/transactions/consumption/{seeds}", "", 400), put("v2/transactions/consumption/{seeds}", "{", 400),
    ]

    private static let firstConsumptionFields = [
        "customerConsented": "true", "sampleContentProvided": "true", "appAccountToken": #""""#,
        "consumptionStatus": "0", "platform": "0", "deliveryStatus": "0", "accountTenure": "0", "playTime": "0",
        "lifetimeDollarsRefunded": "0", "lifetimeDollarsPurchased": "0", "userStatus": "0",
    ]

    private static func firstConsumption(_ id: String, _ changes: [String: String?], _ code: Int) -> Row {
        put("v1/transactions/consumption/\(id)", json(firstConsumptionFields, changes), code)
    }

    private static let firstConsumption: [Row] =
        [
            firstConsumption("abc", [:], 4_000_006), firstConsumption(unknown, [:], 4_040_010),
            firstConsumption("{gate}", [:], 4_000_047), firstConsumption("{season}", [:], 4_000_047),
            firstConsumption("{seeds}", ["customerConsented": "false"], 4_000_035),
            firstConsumption("{seeds}", ["sampleContentProvided": nil], 4_000_041),
            firstConsumption("{seeds}", ["refundPreference": "4"], 4_000_044),
            firstConsumption("{seeds}", ["appAccountToken": #""nobody""#], 4_000_033),
            firstConsumption("{seeds}", ["appAccountToken": nil], 4_000_033),
            firstConsumption("{seeds}", ["platform": #""apple""#], 400),
        ]
        + [
            ("accountTenure", 4_000_032), ("consumptionStatus", 4_000_034), ("deliveryStatus", 4_000_036),
            ("lifetimeDollarsPurchased", 4_000_037), ("lifetimeDollarsRefunded", 4_000_038), ("platform", 4_000_039),
            ("playTime", 4_000_040), ("userStatus", 4_000_042),
        ].flatMap { field, code in
            ["-1", "8", nil].map { firstConsumption("{seeds}", [field: $0], code) }
        }

    // MARK: Subscriptions

    private static let extensionFields = [
        "extendByDays": "10", "extendReasonCode": "1", "requestIdentifier": #""one""#,
    ]

    private static func extend(_ id: String, _ changes: [String: String?], _ code: Int) -> Row {
        put("v1/subscriptions/extend/\(id)", json(extensionFields, changes), code)
    }

    private static let subscriptions: [Row] =
        [
            get("v1/subscriptions/abc", 4_000_006), get("v1/subscriptions/\(unknown)", 4_040_010),
            get("v1/subscriptions/{trial}?status=6", 4_000_031),
            get("v1/subscriptions/{trial}?status=active", 4_000_031),
            get("v1/subscriptions/{trial}?status=1&status=0", 4_000_031),
            get("v1/subscriptions/{trial}?status=", 4_000_031),
            extend("abc", [:], 4_000_008), extend(unknown, [:], 4_040_005), extend("{renewed}", [:], 4_040_005),
            extend("{shared}", [:], 4_030_007), extend("{twice}", [:], 4_030_005),
        ] + ["0", "91", "-1", nil].map { extend("{trial}", ["extendByDays": $0], 4_000_009) }
        + ["-1", "4", nil].map { extend("{trial}", ["extendReasonCode": $0], 4_000_010) }
        + [#""""#, "\"\(String(repeating: "r", count: 129))\"", nil].map {
            extend("{trial}", ["requestIdentifier": $0], 4_000_011)
        }
        + ["{gate}", "{trial}", "{grace}", "{retry}", "{expired}"].map { extend($0, [:], 4_030_004) }

    private static let massExtensionFields = [
        "extendByDays": "10", "extendReasonCode": "1", "requestIdentifier": "\"\(uuid)\"",
        "productId": #""garden.basic.yearly""#,
    ]

    private static let massExtensions: [Row] =
        [
            (["extendByDays": "91"], 4_000_009), (["extendReasonCode": "4"], 4_000_010),
            (["requestIdentifier": nil], 4_000_011), (["requestIdentifier": #""one""#], 4_000_011),
            (["storefrontCountryCodes": "[]"], 4_000_027), (["storefrontCountryCodes": #"["USA","XXX"]"#], 4_000_028),
            (["productId": nil], 4_000_023), (["productId": #""garden.seeds""#], 4_000_023),
            (["productId": #""garden.rose""#], 4_000_023),
        ].map { post("v1/subscriptions/extend/mass", json(massExtensionFields, $0), $1) } + [
            get("v1/subscriptions/extend/mass/garden.seeds/\(uuid)", 4_000_023),
            get("v1/subscriptions/extend/mass/garden.basic.yearly/one", 4_000_011),
            get("v1/subscriptions/extend/mass/garden.basic.yearly/\(uuid)", 4_040_009),
        ]

    // MARK: Notifications

    private static let notificationFields = ["startDate": "{yesterday}", "endDate": "{tomorrow}"]

    private static func notifications(_ changes: [String: String?], _ code: Int, token: String? = nil) -> Row {
        let query = token.map { "?paginationToken=\($0)" } ?? ""
        return post("v1/notifications/history" + query, json(notificationFields, changes), code)
    }

    private static let notifications: [Row] = [
        notifications(["startDate": nil], 4_000_015), notifications(["startDate": #""2026-10-30""#], 4_000_015),
        notifications(["startDate": #""{yesterday}""#], 4_000_015), notifications(["endDate": nil], 4_000_016),
        notifications(["endDate": #""now""#], 4_000_016), notifications(["endDate": "{yesterday}"], 4_000_013),
        notifications(["startDate": "{tomorrow}", "endDate": "{yesterday}"], 4_000_013),
        notifications(["startDate": "{longAgo}"], 4_000_012),
        // In seconds.
        notifications(["startDate": "1793000000"], 4_000_012),
        notifications(["notificationType": #""REFUNDED""#], 4_000_018),
        notifications(["notificationSubtype": #""VOLUNTARY""#], 4_000_018),
        notifications(["notificationType": #""EXPIRED""#, "notificationSubtype": #""NEVER""#], 4_000_018),
        notifications(["notificationType": #""REFUND""#, "notificationSubtype": #""VOLUNTARY""#], 4_000_018),
        notifications(["transactionId": #""{seeds}""#, "notificationType": #""REFUND""#], 4_000_019),
        notifications(["transactionId": #""abc""#], 4_000_006),
        notifications(["transactionId": "\"\(unknown)\""], 4_040_010),
        notifications([:], 4_000_014, token: "nonsense"), notifications([:], 4_000_014, token: "20"),
        notifications([:], 4_000_014, token: ""),
        notifications(["onlyFailures": "true"], 4_000_017, token: "{page}"),
        post("v1/notifications/history", "[", 4_000_000),
        post("v1/notifications/test", "", 4_040_007),
        get("v1/notifications/test/nonsense", 4_000_020), get("v1/notifications/test/\(uuid)", 4_000_020),
        get("v1/notifications/test/\(uuid)_x", 4_000_020), get("v1/notifications/test/\(uuid)_1", 4_040_008),
    ]

    // MARK: Retention messaging

    private static func image(_ name: String, _ bytes: [UInt8], _ code: Int) -> Row {
        Row(method: .put, path: "v1/messaging/image/\(name)", body: bytes, code: code)
    }

    private static let messageFields = ["header": #""Stay""#, "body": #""Much is in bloom.""#]

    private static func message(_ changes: [String: String?], _ code: Int, name: String = uuid) -> Row {
        put("v1/messaging/message/\(name)", json(messageFields, changes), code)
    }

    private static func text(_ count: Int) -> String { String(repeating: "a", count: count) }

    private static func point(_ image: String, text: Int = 1, altText: Int = 1) -> String {
        #"{"text":"\#(self.text(text))","altText":"\#(self.text(altText))","imageIdentifier":"\#(image)"}"#
    }

    private static let messaging: [Row] =
        [
            image("one", TestPicture.png(3840, 160), 4_000_000), image(uuid, Array("GIF89a".utf8), 4_000_161),
            image(uuid, TestPicture.png(3839, 160), 4_000_161),
            image(uuid, TestPicture.png(3840, 159), 4_000_161),
            image(uuid, TestPicture.png(3840, 2161), 4_000_161), image(uuid, [], 4_000_161),
            image(uuid, TestPicture.png(60_000, 60_000), 4_000_161),
            image(uuid, Array(TestPicture.png(3840, 160).prefix(32)), 4_000_161),
            image("\(uuid)?imageSize=BULLET_POINT", TestPicture.png(3840, 160), 4_000_161),
            image("\(uuid)?imageSize=BULLET_POINT", TestPicture.png(1024, 1023), 4_000_161),
            image("\(uuid)?imageSize=BIG", TestPicture.png(3840, 160), 4_000_216),
            image("{image}", TestPicture.png(3840, 160), 4_090_000),
            delete("v1/messaging/image/{image}", 4_030_019), delete("v1/messaging/image/\(uuid)", 4_040_014),
            message([:], 4_000_000, name: "one"), message([:], 4_090_001, name: "{message}"),
            put("v1/messaging/message/\(uuid)", "{}", 4_000_000),
            message(["header": "\"\(text(67))\""], 4_000_162), message(["body": "\"\(text(145))\""], 4_000_163),
            message(["image": #"{"imageIdentifier":"{image}","altText":"\#(text(151))"}"#], 4_000_175),
            message(["image": #"{"imageIdentifier":"{icon}","altText":"a"}"#], 4_000_216),
            message(["image": #"{"imageIdentifier":"\#(uuid)","altText":"a"}"#], 4_040_014),
            message(["headerPosition": #""ABOVE_IMAGE""#], 4_000_224),
            message(["headerPosition": #""LEFT""#], 4_000_000),
            message(
                ["bulletPoints": "[\(Array(repeating: point("{icon}"), count: 6).joined(separator: ","))]"], 4_000_218),
            message(["bulletPoints": "[\(point("{icon}", text: 67))]"], 4_000_219),
            message(["bulletPoints": "[\(point("{icon}", altText: 151))]"], 4_000_175),
            message(["bulletPoints": "[\(point("{image}"))]"], 4_000_216),
            delete("v1/messaging/message/\(uuid)", 4_040_015), delete("v1/messaging/message/one", 4_000_000),
        ]
        + [
            ("garden.seeds/en-US", "{message}", 4_000_023), ("garden.rose/en-US", "{message}", 4_000_023),
            ("garden.basic.yearly/1", "{message}", 4_000_164), ("garden.basic.yearly/en-US", uuid, 4_040_015),
            ("garden.basic.yearly/en-US", "one", 4_000_000),
        ].map { put("v1/messaging/default/\($0)", "{\"messageIdentifier\":\"\($1)\"}", $2) } + [
            get("v1/messaging/default/garden.seeds/en-US", 4_000_023),
            get("v1/messaging/default/garden.basic.yearly/1", 4_000_164),
            get("v1/messaging/default/garden.basic.yearly/en-US", 4_040_020),
            delete("v1/messaging/default/garden.basic.yearly/en-US", 4_040_020),
            put("v1/messaging/realtime/url", #"{"realtimeURL":"http://example.com"}"#, 4_000_215),
            put("v1/messaging/realtime/url", "{}", 4_000_215), get("v1/messaging/realtime/url", 4_040_021),
            delete("v1/messaging/realtime/url", 4_040_021),
            post("v1/messaging/performanceTest", "{}", 4_000_211),
            get("v1/messaging/performanceTest/result/one", 4_000_212),
            get("v1/messaging/performanceTest/result/\(uuid)", 4_040_018),
        ]
        + [
            ("abc", 4_000_006), ("{app}", 4_000_048), ("{renewed}", 4_000_187), ("{shared}", 4_000_185),
            (unknown, 4_000_211), ("{trial}", 4_040_021),
        ].map { post("v1/messaging/performanceTest", "{\"originalTransactionId\":\"\($0)\"}", $1) }

    private static let refusals =
        transactions + histories + accountTokens + consumption + firstConsumption + subscriptions + massExtensions
        + notifications + messaging

    /// Correct requests, which the store accepts before it refuses the others.
    private static let accepted: [Row] = [
        image("{image}", TestPicture.png(3840, 2160), 200),
        image("{icon}?imageSize=BULLET_POINT", TestPicture.png(1024, 1024), 200),
        message(
            [
                "headerPosition": #""ABOVE_IMAGE""#,
                "image": #"{"imageIdentifier":"{image}","altText":"\#(text(150))"}"#,
                "bulletPoints": "[\(Array(repeating: point("{icon}", text: 66), count: 5).joined(separator: ","))]",
            ], 200, name: "{message}"),
        extend("{twice}", [:], 200), extend("{twice}", ["extendByDays": "90"], 200),
        consumption("{gate}", ["refundPreference": #""GRANT_FULL""#], 202), consumption("{season}", [:], 202),
        consumption("{trial}", ["refundPreference": #""GRANT_PRORATED""#], 202),
        firstConsumption("{seeds}", [:], 202), get("v1/transactions/appTransactions/{app}", 200),
        // Of an account that has bought nothing.
        get("v1/transactions/appTransactions/{visitor}", 200), get("v2/history/{visitor}", 200),
        get("v1/subscriptions/{visitor}", 200), get("v2/refund/lookup/{visitor}", 200),
        notifications(["transactionId": #""{visitor}""#], 200),
        // As Apple's clients for Node and Python write them.
        get("v2/history/{app}?", 200), get("v2/history/{app}?revoked=True", 200),
        get("v1/subscriptions/{app}?status=1&status=5", 200),
        notifications([:], 200), notifications([:], 200, token: "{page}"),
        put("v1/transactions/{trial}/appAccountToken", "{\"appAccountToken\":\"\(uuid)\"}", 200),
    ]

    // MARK: The store

    private let garden: TestGarden
    private let token: String
    private let values: [String: String]

    init() throws {
        let garden = try TestGarden(isInMemory: true)
        self.garden = garden
        let store = garden.store
        func buy(_ product: String, _ account: String) throws -> String {
            try #require(try garden.buy("garden." + product, account: account).purchase).transactionIdentifier
        }
        var values = [
            "image": "4a1f6f3e-0d0b-4a53-9a6c-3f1d2c5b7e81", "icon": "0b8f7f42-6a8e-4a0e-8a39-5b7c0f6d2e14",
            "message": "c2d9e0a6-1f57-4d3c-b7a4-8e6f5a3b9d02",
            "tomorrow": String(store.now.adding(days: 1).millisecondsSince1970),
            "yesterday": String(store.now.adding(days: -1).millisecondsSince1970),
            "longAgo": String(store.now.adding(days: -31).millisecondsSince1970),
        ]
        // More notifications than a page has.
        for _ in 0..<20 { values["seeds"] = try buy("seeds", "alice") }
        values["gate"] = try buy("gate", "alice")
        values["season"] = try buy("season", "alice")
        values["trial"] = try buy("basic.monthly", "alice")
        values["shared"] = try store.share(values["gate"] ?? "", with: "bob")
        values["twice"] = try buy("premium.monthly", "carol")
        let renewing = try buy("premium.monthly", "dora")
        try store.forceRenewal(of: renewing)
        values["renewed"] = try #require(try store.history(of: "dora").last).transactionIdentifier
        let expiring = try buy("premium.monthly", "eli")
        try store.expire(expiring)
        values["expired"] = expiring
        for (name, account, hasGracePeriod) in [("grace", "finn", true), ("retry", "gus", false)] {
            let failing = try buy("premium.monthly", account)
            try store.failRenewal(of: failing, hasGracePeriod: hasGracePeriod)
            values[name] = failing
        }
        let signed = try store.signedTransaction(of: values["seeds"] ?? "")
        values["app"] = try garden.transaction(signed).facts.text(.appTransactionId)
        guard
            case .appTransaction(let visitor) = try garden.verify(
                try store.read { try $0.signedAppTransaction(of: "visitor") })
        else { throw TestGardenError.notAppTransaction }
        values["visitor"] = visitor.appTransactionId
        let request = try JSONDecoder().decode(
            NotificationHistoryRequest.self,
            from: Data(Self.filled(Self.json(Self.notificationFields), values).utf8))
        values["page"] = try #require(
            try store.readOrThrow { try $0.notificationHistory(request, paginationToken: nil) }.paginationToken)
        self.values = values
        var privateKey = ""
        let key = try store.makeTeamKey { privateKey = $1 }
        token = try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: key.keyIdentifier, issuerIdentifier: key.issuerIdentifier,
            bundleIdentifier: TestGarden.bundleIdentifier
        ).token(at: garden.clock.now())
    }

    private static func filled(_ text: String, _ values: [String: String]) -> String {
        values.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    private struct Answer {
        let status: Int
        let contentType: String?
        let body: Data
    }

    /// The answers to requests, one after the other.
    private func answers(to rows: [Row]) async throws -> [Answer] {
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        let headers: HTTPFields = [.authorization: "Bearer \(token)"]
        return try await application.test(.router) { [values] client in
            var answers: [Answer] = []
            for row in rows {
                // An image is no text.
                let text = String(validating: row.body, as: UTF8.self).map { Self.filled($0, values) }
                let answer = try await client.executeRequest(
                    uri: "/inApps/" + Self.filled(row.path, values), method: row.method, headers: headers,
                    body: text.map { ByteBuffer(string: $0) } ?? ByteBuffer(bytes: row.body))
                answers.append(
                    Answer(
                        status: answer.status.code, contentType: answer.headers[.contentType],
                        body: Data(answer.body.readableBytesView)))
            }
            return answers
        }
    }

    /// An error, as Apple's clients read it.
    private struct Refusal: Decodable, Equatable {
        let errorCode: Int
        let errorMessage: String
    }

    /// The state that refused requests must not change.
    private func state() throws -> [String] {
        let accounts = ["alice", "bob", "carol", "dora", "eli", "finn", "gus"]
        return try accounts.flatMap { account in
            try garden.store.history(of: account).map { "\($0)" }
                + garden.store.subscriptions(of: account).map { "\($0)" }
        } + [String(try garden.store.notifications().count)]
    }

    @Test func `what Apple refuses is refused with Apple's numbers, and changes nothing`() async throws {
        for (row, answer) in zip(Self.accepted, try await answers(to: Self.accepted)) {
            #expect(answer.status == row.status, "\(row.method) \(row.path)")
        }
        let before = try state()
        for (row, answer) in zip(Self.refusals, try await answers(to: Self.refusals)) {
            let what = "\(row.method) \(row.path) \(String(decoding: row.body, as: UTF8.self))"
            #expect(answer.status == row.status, "\(what)")
            let refusal = try? JSONDecoder().decode(Refusal.self, from: answer.body)
            let expected = ServerAPIError(rawValue: row.code).map {
                Refusal(errorCode: row.code, errorMessage: $0.message)
            }
            #expect(refusal == expected, "\(what)")
            // Apple's Python client reads the number only from this type, without a character set.
            #expect(expected == nil || answer.contentType == "application/json", "\(what)")
        }
        #expect(try state() == before)
    }

    /// The errors that no single request causes.
    private static let others: [ServerAPIError] = [
        .rateLimitExceeded, .generalInternalRetryable, .maximumNumberOfImagesReached, .maximumNumberOfMessagesReached,
        .messageNotApproved, .imageNotApproved,
    ]

    /// The errors that the store answers only with the setting.
    private static let simulated: Set<ServerAPIError> = [
        .invalidAppIdentifier, .invalidTransactionNotConsumable, .existingPerformanceTestRun, .forbiddenNoPassingTest,
        .accountNotFound, .accountNotFoundRetryable, .appNotFound, .appNotFoundRetryable,
        .originalTransactionIdNotFoundRetryable, .appTransactionDoesNotExist, .generalInternal,
    ]

    @Test func `each error has a row, or is answered with the setting alone`() {
        let met = Set(Self.refusals.compactMap { ServerAPIError(rawValue: $0.code) }).union(Self.others)
        #expect(met.isDisjoint(with: Self.simulated))
        #expect(met.union(Self.simulated) == Set(ServerAPIError.allCases))
    }

    @Test func `the setting makes every call fail with an error of Apple's`() async throws {
        for error in ServerAPIError.allCases {
            _ = try garden.store.update { $0.serverAPIError = error.rawValue }
            for answer in try await answers(to: [
                Self.get("v1/transactions/{seeds}", error.rawValue),
                Self.post("v1/notifications/test", "", error.rawValue),
            ]) {
                #expect(answer.status == error.rawValue / 10_000)
                let refusal = try JSONDecoder().decode(Refusal.self, from: answer.body)
                #expect(refusal == Refusal(errorCode: error.rawValue, errorMessage: error.message))
            }
        }
        _ = try garden.store.update { $0.serverAPIError = nil }
        #expect(try await answers(to: [Self.get("v1/transactions/{seeds}", 200)]).map(\.status) == [200])
    }

    /// `make test-apple` compares the table with Apple's library.
    @Test func `the table of the errors has each, and tells which no request causes`() throws {
        let page = try Project.text("Documentation/AppStoreErrors.md")
        let rows = page.matches(of: #/\n\| ([0-9]{7}) \| `[A-Z_]+` \| (to|never:) /#)
        let listed = rows.compactMap { Int($0.1) }
        #expect(Set(listed).count == listed.count)
        // The libraries lack these.
        let others: Set<ServerAPIError> = [.invalidRefundPreference, .consumptionPercentageAutoRenewableSubscription]
        #expect(Set(listed) == Set(Set(ServerAPIError.allCases).subtracting(others).map(\.rawValue)))
        #expect(others.allSatisfy { page.contains(String($0.rawValue)) })
        let never = rows.filter { $0.2 == "never:" }.compactMap { Int($0.1) }
        #expect(Set(never) == Set(Self.simulated.map(\.rawValue)))
    }

    /// The first message is from an answer of Apple's, the others from its pages.
    @Test(arguments: [
        (4_000_012, "Invalid request. The start date is earlier than the allowed start date."),
        (4_000_000, "Bad request."), (4_000_005, "Invalid request revision."), (4_000_006, "Invalid transaction id."),
        (4_000_009, "Invalid extend by days value."), (4_000_010, "Invalid extend reason code."),
        (4_000_022, "Invalid request. The product type parameter is invalid."),
        (4_000_024, "Invalid request. The subscription group identifier parameter is invalid."),
        (4_000_037, "Invalid request. The lifetime dollars purchased field is invalid."),
        (4_000_044, "Invalid request. The refund preference field is invalid."),
        (4_000_048, "Invalid request. App transactions aren't supported by this endpoint."),
        (4_030_005, "Forbidden - subscription has reached maximum extension count."),
        (4_040_005, "Original transaction id not found."), (4_040_010, "Transaction id not found."),
        (4_290_000, "Rate limit exceeded."), (5_000_000, "An unknown error occurred."),
        (5_000_001, "An unknown error occurred. Please try again."),
    ])
    func `messages are Apple's`(code: Int, message: String) throws {
        #expect(ServerAPIError(rawValue: code)?.message == message)
    }

    @Test func `an unknown order has no transactions`() async throws {
        let answers = try await answers(to: [Self.get("v1/lookup/MNOSUCHORD", 200)])
        #expect(answers.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"status":1}"#])
    }

    @Test func `an extension for all subscribers happens once for its request`() async throws {
        _ = try garden.buy("garden.basic.yearly", account: "hana")
        let end = try #require(try garden.store.history(of: "hana").last?.expiresDate)
        let requests = [Self.uuid, Self.uuid.uppercased()].map {
            Self.post(
                "v1/subscriptions/extend/mass",
                Self.json(Self.massExtensionFields, ["requestIdentifier": "\"\($0)\""]), 200)
        }
        #expect(try await answers(to: requests).map(\.status) == [200, 200])
        #expect(try garden.store.history(of: "hana").last?.expiresDate == end.adding(days: 10))
    }
}
