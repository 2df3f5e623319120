import Entitlements
import Foundation
import HTTPTypes
import Hummingbird
import PlayStore
import Proofs
import Service
import Synchronization
import TestSupport
import Testing

/// The route of `verifyPurchaseWithProvider` with the requests of its Android client, which sends a purchase token.
@Suite struct IAPKitGooglePlayTests {
    private static let path = "/v1/purchase/verify"
    private static let unknown = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"

    private static func body(_ token: String, expecting product: String? = nil) -> JSONValue {
        var object: JSONObject = [
            "store": "google", "purchaseToken": .string(token), "includeClientPayload": .bool(true),
        ]
        if let product { _ = object.add("expectedProductId", .string(product)) }
        return .object(object)
    }

    /// The state of a purchase, and whether it is valid, such as "ENTITLED true". The client refuses another store than its own.
    private func state(_ service: PlayDoor, _ token: String, expecting product: String? = nil) async throws -> String {
        let answer = try await service.door.send(.post, Self.path, Self.body(token, expecting: product))
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        #expect(answer["store"] == "google")
        guard case .string(let state)? = answer["state"], case .bool(let isValid)? = answer["isValid"] else {
            return ""
        }
        return "\(state) \(isValid)"
    }

    @Test func `a purchase is told as Google Play states it, and nothing is granted`() async throws {
        try await PlayDoor.run([.iapkit, .revenueCat]) { service in
            let gate = try service.buy("garden.gate")
            let answer = try await service.door.send(
                .post, Self.path, Self.body(gate.purchaseToken, expecting: "garden.gate"))
            #expect(
                String(decoding: answer.body, as: UTF8.self)
                    == #"{"store":"google","isValid":true,"state":"PENDING_ACKNOWLEDGMENT","#
                    + #""productId":"garden.gate","environment":"Production"}"#)
            #expect(try await service.door.entitlements.purchases(ofTransaction: gate.purchaseToken).isEmpty)
            #expect(try await state(service, gate.purchaseToken, expecting: "garden.seeds") == "INAUTHENTIC false")
            // The service acknowledges what a user has redeemed.
            _ = try await service.redeem(gate.purchaseToken, of: "alice", products: "garden.gate")
            #expect(try await state(service, gate.purchaseToken) == "ENTITLED true")
            try service.change { try $0.refund(gate.number) }
            #expect(try await state(service, gate.purchaseToken) == "CANCELED false")
            // Google Play may not know a new purchase yet.
            let unknown = try await service.door.send(.post, Self.path, Self.body(Self.unknown))
            #expect(unknown.status == 503 && unknown["isValid"] == nil)
            #expect(String(decoding: unknown.body, as: UTF8.self).contains("googlePlayTokenUnknown"))
        }
    }

    @Test func `an address that presents many tokens has few of Google Play's requests, and gets what is known`()
        async throws
    {
        try await PlayDoor.run([.iapkit, .revenueCat]) { service in
            let (gate, other) = (try service.buy("garden.gate"), try service.buy("garden.gate", account: "bob"))
            let pending = try service.buy("garden.seeds", isPending: true)
            func text(_ token: String) async throws -> String {
                let answer = try await service.door.send(.post, Self.path, Self.body(token))
                return String(decoding: answer.body, as: UTF8.self)
            }
            // Each question counts: about a token that is known, one whose payment is pending, and invented ones.
            _ = try await service.redeem(gate.purchaseToken, of: "alice", products: "garden.gate")
            #expect(try await state(service, pending.purchaseToken) == "PENDING false")
            for index in 0..<58 {
                #expect(try await text("\(Self.unknown)\(index)").contains("googlePlayTokenUnknown"))
            }
            #expect(try await text(Self.unknown).contains("googlePlayLimited"))
            #expect(try await text(other.purchaseToken).contains("googlePlayLimited"))
            // An answer of the last ten seconds costs nothing, and what the ledger knows neither.
            #expect(try await text("\(Self.unknown)57").contains("googlePlayTokenUnknown"))
            service.advance(seconds: 10)
            #expect(try await state(service, gate.purchaseToken) == "ENTITLED true")
            #expect(try await state(service, other.purchaseToken) == "PENDING_ACKNOWLEDGMENT true")
            service.advance(seconds: 60)
            // A token that is presented without end is asked about every ten seconds.
            for second in 0..<60 {
                #expect(try await state(service, other.purchaseToken) == "PENDING_ACKNOWLEDGMENT true")
                if second % 10 == 9 { service.advance(seconds: 10) }
            }
            for index in 0..<50 {
                #expect(try await text("\(Self.unknown)\(index)").contains("googlePlayTokenUnknown"))
            }
        }
    }

    /// What a Google Play answers to each question.
    enum Failure: CaseIterable {
        case serverError, malformed, quota, noText

        fileprivate func response() -> Response {
            func error(_ status: HTTPResponse.Status, _ reason: String) -> Response {
                Response(
                    status: status,
                    body: .init(byteBuffer: ByteBuffer(string: #"{"error":{"errors":[{"reason":"\#(reason)"}]}}"#)))
            }
            return switch self {
            case .serverError: error(.serviceUnavailable, "backendError")
            case .malformed: error(.badRequest, "invalid")
            case .quota: error(.tooManyRequests, "rateLimitExceeded")
            case .noText: Response(status: .ok)
            }
        }
    }

    @Test(arguments: Failure.allCases)
    func `a question counts against its address, whatever becomes of it`(_ failure: Failure) async throws {
        try await Self.withFailingPlay(failure) { door, asked in
            @Sendable func text(_ index: Int) async throws -> String {
                let answer = try await door.send(.post, Self.path, Self.body("\(Self.unknown)\(index)"))
                return String(decoding: answer.body, as: UTF8.self)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<60 {
                    group.addTask { _ = try await text(index) }
                }
                try await group.waitForAll()
            }
            let beyond = try await text(60)
            #expect(beyond.contains("googlePlayLimited"))
            #expect(asked.tokens.count == 60)
        }
    }

    @Test(arguments: [
        (0..<256).map { "192.0.2.\($0)" }, (0..<256).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" },
    ])
    func `the addresses of one site cause a quarter of the questions`(addresses: [String]) async throws {
        try await Self.withFailingPlay(.malformed) { door, asked in
            let name = try #require(HTTPField.Name("X-Forwarded-For"))
            for index in 0..<520 {
                _ = try await door.send(
                    .post, Self.path, Self.body("\(Self.unknown)\(index)"), headers: [name: addresses[index % 256]])
            }
            #expect(asked.tokens.count == 500)
            _ = try await door.send(
                .post, Self.path, Self.body("\(Self.unknown)other"), headers: [name: "198.51.100.1"])
            #expect(asked.tokens.count == 501)
        }
    }

    /// Runs a service whose Google Play fails.
    private static func withFailingPlay(
        _ failure: Failure, _ body: @escaping @Sendable (DoorGarden, Questions) async throws -> Void
    ) async throws {
        let asked = Questions()
        let router = Router()
        router.post("/token") { _, _ in #"{"access_token":"t","expires_in":3600,"token_type":"Bearer"}"# }
        router.get("/androidpublisher/**") { request, _ in
            asked.add(String(request.uri.path.split(separator: "/").last ?? ""))
            return failure.response()
        }
        try await Application(router: router).test(.live) { server in
            let port = try #require(server.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let account = JSONValue.object([
                "type": "service_account", "client_email": "till@example.iam.gserviceaccount.com",
                "private_key": .string(try PrivateKey.generateRSA().pem()), "token_uri": .string("\(url)/token"),
            ])
            let door = try await DoorGarden(
                [.iapkit],
                play: PlayDeveloperClient(
                    account: try GoogleServiceAccount(json: account.compactBytes), url: url,
                    packageName: TestGarden.bundleIdentifier, realm: .localPlay),
                proxies: 1)
            try await body(door, asked)
        }
    }

    /// The tokens that a Google Play was asked about.
    private final class Questions: Sendable {
        private let state = Mutex(Set<String>())

        var tokens: Set<String> { state.withLock(\.self) }

        func add(_ token: String) { _ = state.withLock { $0.insert(token) } }
    }

    @Test func `a consumable is given once`() async throws {
        try await PlayDoor.run([.iapkit, .revenueCat]) { service in
            let seeds = try service.buy("garden.seeds")
            #expect(try await state(service, seeds.purchaseToken) == "READY_TO_CONSUME true")
            _ = try await service.redeem(seeds.purchaseToken, of: "alice", products: "garden.seeds")
            #expect(try await state(service, seeds.purchaseToken) == "CONSUMED false")
            // The app has consumed another one, which no user has redeemed.
            let other = try service.buy("garden.seeds", account: "bob")
            try await service.client.consume(other.purchaseToken, of: "garden.seeds")
            #expect(try await state(service, other.purchaseToken) == "CONSUMED false")
        }
    }

    @Test func `a pending purchase is neither valid nor an error`() async throws {
        try await PlayDoor.run([.iapkit]) { service in
            let gate = try service.buy("garden.gate", isPending: true)
            #expect(try await state(service, gate.purchaseToken) == "PENDING false")
            try service.change { try $0.cancel(gate.number) }
            #expect(try await state(service, gate.purchaseToken) == "CANCELED false")
        }
    }

    @Test func `a purchase that a license tester has not paid is not valid where nobody may have it`() async throws {
        try await PlayDoor.run([.iapkit], accepting: [.localPlayProduction]) { service in
            let tested = try service.buy("garden.gate", isTest: true)
            let answer = try await service.door.send(.post, Self.path, Self.body(tested.purchaseToken))
            #expect(answer.status == 503 && answer["isValid"] == nil)
            #expect(String(decoding: answer.body, as: UTF8.self).contains("originNotAccepted"))
            let paid = try service.buy("garden.gate", account: "bob")
            #expect(try await state(service, paid.purchaseToken) == "PENDING_ACKNOWLEDGMENT true")
        }
    }

    @Test func `a subscription is entitled while it is paid`() async throws {
        try await PlayDoor.run([.iapkit]) { service in
            let product = "garden.basic.monthly"
            let bought = try service.subscribe(product)
            #expect(try await state(service, bought.purchaseToken) == "PENDING_ACKNOWLEDGMENT true")
            try await service.client.acknowledge(bought.purchaseToken, of: product, as: .subscription)
            // An answer of Google Play counts for ten seconds.
            service.advance(seconds: 10)
            #expect(try await state(service, bought.purchaseToken) == "ENTITLED true")
            try service.change { try $0.perform(.declinePayments, on: bought.number) }
            // After the grace period of three days, the subscription is on hold.
            service.advance(days: 40)
            #expect(try await state(service, bought.purchaseToken) == "PENDING false")
            try service.change { try $0.perform(.acceptPayments, on: bought.number) }
            #expect(try await state(service, bought.purchaseToken) == "ENTITLED true")
            try service.change { try $0.perform(.cancel, on: bought.number) }
            service.advance(days: 40)
            #expect(try await state(service, bought.purchaseToken) == "EXPIRED false")
        }
    }

    @Test func `a token that cannot be asked about is an error of the service, not of the purchase`() async throws {
        let door = try await DoorGarden([.iapkit])
        let answer = try await door.send(.post, Self.path, Self.body(Self.unknown))
        #expect(answer.status == 503)
        guard case .array(let errors)? = answer["errors"] else { return }
        #expect(errors.first?.at("code") == "serviceAccountMissing" && errors.first?.at("path") == "purchaseToken")
    }

    @Test(arguments: ["", "a b", "é", String(repeating: "a", count: 513)])
    func `a text that is no token is an error of the client`(token: String) async throws {
        let door = try await DoorGarden([.iapkit])
        let answer = try await door.send(.post, Self.path, Self.body(token))
        #expect(answer.status == 400)
        guard case .array(let errors)? = answer["errors"] else { return }
        #expect(errors.first?.at("code") == "bodyInvalid" && errors.first?.at("path") == "purchaseToken")
    }
}
