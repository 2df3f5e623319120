import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The public keys of apps, without a service.
@Suite struct PublicKeyTests {
    private let clock = ManualClock()
    private let folder: TemporaryFolder
    private let ledger: Ledger
    private let keys: APIKeys

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        keys = ledger.apiKeys(clock: clock)
    }

    @Test func `an app has one valid public key for each platform`() async throws {
        let first = try await keys.makePublic(name: "garden", app: "com.example.garden", platform: .apple)
        #expect(first.identifier.wholeMatch(of: /appl_[0-9a-f]{32}/) != nil)
        await #expect(
            throws: PublicKeyError.exists(key: first.identifier, app: "com.example.garden", platform: .apple)
        ) { try await keys.makePublic(name: "again", app: "com.example.garden", platform: .apple) }
        _ = try await keys.makePublic(name: "tools", app: "com.example.tools", platform: .apple)
        #expect(try await keys.revoke(first.identifier))
        let second = try await keys.makePublic(name: "garden", app: "com.example.garden", platform: .apple)
        #expect(second.identifier != first.identifier)
        #expect(try await keys.list().count { $0.platform == "apple" } == 3)
    }

    @Test func `the ledger itself refuses a second valid public key`() async throws {
        let first = try await keys.makePublic(name: "garden", app: "com.example.garden", platform: .apple)
        let second = APIKeyRecord(
            identifier: "appl_2", name: "second", scopes: [], app: first.app, platform: first.platform,
            key: "appl_2", createdAt: first.createdAt)
        await #expect(throws: (any Error).self) { try await ledger.write { try $0.add(second) } }
        #expect(try await keys.list().map(\.identifier) == [first.identifier])
    }

    @Test func `a public key is its caller, until it is revoked`() async throws {
        let record = try await keys.makePublic(name: "garden", app: "com.example.garden", platform: .apple)
        let caller = try #require(try await keys.caller(presenting: record.identifier))
        #expect(caller == .publicApp(key: record.identifier, app: "com.example.garden"))
        #expect(caller.app == "com.example.garden")
        #expect(caller.actor == .apiKey(record.identifier))
        #expect(!caller.isBackEnd)
        for other in [
            record.identifier + "0", String(record.identifier.dropLast()), "appl_", "till_" + record.identifier,
        ] {
            #expect(try await keys.caller(presenting: other) == nil, "\(other)")
        }
        #expect(try await keys.validKeys().isEmpty)
        #expect(try await keys.revoke(record.identifier))
        #expect(try await keys.caller(presenting: record.identifier) == nil)
    }

    @Test(arguments: [Access.backEnd(.read), .backEnd(.grant), .app, .backEndOrApp(.read)])
    func `a public key opens no group of other callers`(access: Access) {
        #expect(!access.allows(.publicApp(key: "appl_1", app: "com.example.garden")))
    }

    @Test func `no other caller opens a group for public keys`() throws {
        #expect(Access.publicApp.allows(.publicApp(key: "appl_1", app: "com.example.garden")))
        #expect(!Access.publicApp.allows(.backEnd(key: "1", scopes: Set(APIKeyScope.allCases), app: nil)))
        #expect(!Access.publicApp.allows(.app(try #require(User(name: "alice")), app: nil)))
        #expect(!Access.publicApp.allows(nil))
    }

    @Test func `back ends with the scope and public keys open their common group`() throws {
        let access = Access.backEndOrPublicApp(.read)
        #expect(access.allows(.publicApp(key: "appl_1", app: "com.example.garden")))
        #expect(access.allows(.backEnd(key: "1", scopes: [.read], app: nil)))
        #expect(!access.allows(.backEnd(key: "1", scopes: [.redeem], app: nil)))
        #expect(!access.allows(.app(try #require(User(name: "alice")), app: nil)))
        #expect(!access.allows(nil))
    }

    private static let limits = {
        var limits = RequestLimits()
        (limits.perKey, limits.perUser, limits.perPublicKeyAddress) = (1, 1, 2)
        return limits
    }()

    /// A router with one route for public keys, behind one proxy.
    private func router(_ limits: RequestLimits) -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.addMiddleware(counting: ServiceMetrics(), SharedLimits(proxies: 1), routes: [])
        let group = router.group("door").authenticated(by: .apiKeys(keys), acceptsPublicKeys: true).add(
            middleware: RateLimitMiddleware(limits: limits, clock: clock))
        group.for(.publicApp).get { _, context in try context.requiredCaller.name }
        return router
    }

    private func status(of key: String, from address: String, _ router: Router<ServiceContext>) async throws -> Int {
        let headers: HTTPFields = [
            .authorization: "Bearer \(key)", try #require(HTTPField.Name("X-Forwarded-For")): address,
        ]
        return try await Application(router: router).test(.router) { client in
            try await client.execute(uri: "/door", method: .get, headers: headers) { $0.status.code }
        }
    }

    @Test func `a public key is limited for each client address`() async throws {
        let first = try await keys.makePublic(name: "garden", app: "com.example.garden", platform: .apple).identifier
        let second = try await keys.makePublic(name: "tools", app: "com.example.tools", platform: .apple).identifier
        let router = router(Self.limits)
        func answer(_ key: String, _ address: String) async throws -> Int {
            try await status(of: key, from: address, router)
        }
        for status in [200, 200, 429, 429] { #expect(try await answer(first, "192.0.2.1") == status) }
        #expect(try await answer(first, "192.0.2.2") == 200)
        #expect(try await answer(second, "192.0.2.1") == 200)
        clock.advance(milliseconds: 60_000)
        #expect(try await answer(first, "192.0.2.1") == 200)
    }

    /// All installations of an app hold its key. A limit of the key would be everybody's.
    @Test func `any number of addresses use up nothing of another`() async throws {
        let key = try await keys.makePublic(name: "garden", app: "com.example.garden", platform: .apple).identifier
        let router = router(Self.limits)
        var refused: [Int] = []
        for number in 0..<300 {
            let address = "198.\(number / 100).\(number % 100).1"
            let statuses = [
                try await status(of: key, from: address, router), try await status(of: key, from: address, router),
            ]
            if statuses != [200, 200] { refused.append(number) }
            #expect(try await status(of: key, from: address, router) == 429)
        }
        // Two of 300 addresses may share one of 65,536 buckets.
        #expect(refused.count < 10)
    }

    @Test(arguments: [
        // An IPv4 /24, an IPv6 /48 and a /56.
        ((0..<200).map { "192.0.2.\($0)" }, 32),
        ((0..<200).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" }, 32),
        ((0..<200).map { "2001:db8:1:\(String($0, radix: 16))::1" }, 8),
    ])
    func `the addresses of one network share a wider limit`(addresses: [String], limit: Int) async throws {
        let key = try await keys.makePublic(name: "garden", app: "com.example.garden", platform: .apple).identifier
        let router = router(Self.limits)
        var answered = 0
        for address in addresses where try await status(of: key, from: address, router) == 200 { answered += 1 }
        #expect(answered == limit)
        #expect(try await status(of: key, from: "2001:db8:2:1::1", router) == 200)
    }

    @Test func `a back end's key is refused on a route for public keys`() async throws {
        let secret = try await keys.make(name: "shop", scopes: Set(APIKeyScope.allCases)).key
        let router = router(RequestLimits())
        #expect(try await status(of: secret, from: "192.0.2.1", router) == 403)
        #expect(try await status(of: "appl_unknown", from: "192.0.2.1", router) == 401)
    }
}
