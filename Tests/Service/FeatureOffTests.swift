import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Service
import TestSupport
import Testing

/// The operations of features whose setting is off.
@Suite struct FeatureOffTests {
    private let shop: TestShop
    private let folder: TemporaryFolder
    private let issuer: TestIssuer
    private let key: String
    private let authentication: Authentication
    private let entitlements: EntitlementService

    init() async throws {
        (shop, folder, issuer) = (try TestShop(), try TemporaryFolder(), try TestIssuer())
        let ledger = try Ledger(file: shop.folder.file("ledger.sqlite"))
        let keys = ledger.apiKeys(clock: shop.clock)
        key = try await keys.make(name: "tests", scopes: Set(APIKeyScope.allCases)).key
        let tokens = UserTokens(
            try issuer.settings(keptIn: folder), clock: shop.clock, logger: ServiceFixture.logger)
        authentication = .apiKeys(keys, tokens)
        entitlements = EntitlementService(
            apps: try Apps([App(shop.catalog)]),
            verifier: ProofVerifier(
                anchors: try TrustAnchors(shop.store.rootCertificates.compactMap { try TrustAnchor($0) }),
                clock: shop.clock),
            ledger: ledger, clock: shop.clock)
    }

    /// A service whose features are off.
    private var bare: ServiceRoutes { ServiceRoutes(Till(entitlements), RouteSettings(authentication)) }

    private func send(_ operation: String, to routes: ServiceRoutes, credential: String?) async throws -> (
        status: Int, problem: ProblemResource?
    ) {
        let parts = operation.split(separator: " ").map(String.init)
        let method = try #require(HTTPRequest.Method(rawValue: parts[0]))
        var headers: HTTPFields = [:]
        if let credential { headers[.authorization] = "Bearer \(credential)" }
        return try await Application(router: routes.router()).test(.router) { [headers] client in
            try await client.execute(
                uri: parts[1].replacing(/\{[a-z]+\}/, with: "x"), method: method, headers: headers,
                body: method == .get ? nil : ByteBuffer(string: "{}")
            ) { response in
                let problem = try? JSONDecoder().decode(
                    ProblemResource.self, from: Data(response.body.readableBytesView))
                return (response.status.code, problem)
            }
        }
    }

    private func token() throws -> String {
        try issuer.token(for: "alice", at: shop.clock.now().millisecondsSince1970 / 1000)
    }

    @Test(arguments: OptionalOperations.all.indices)
    func `each operation of a feature that is off names the setting`(feature: Int) async throws {
        let feature = OptionalOperations.all[feature]
        let name = try #require(feature.option.split(separator: " ").first).drop { $0 == "-" }
        let mailed = Set(try operations(of: "--mail-server").map(\.route))
        let described = try JSONDecoder().decode(
            OpenAPI.self, from: Data(try OpenAPIDocument.composedWithSeedApp.get().json.compactBytes)
        ).operations
        for operation in feature.operations {
            let answers = [
                try await send(operation.route, to: bare, credential: nil),
                try await send(operation.route, to: bare, credential: key),
                try await send(operation.route, to: bare, credential: try token()),
            ]
            let statuses = try #require(described[operation.route]?.responses)
            for status in Set(answers.map(\.status)) {
                #expect(statuses[String(status)] != nil, "\(operation.route) \(status)")
            }
            // A caller who may not use the operation learns nothing else.
            #expect((answers[0].status == 401) == operation.needsCaller, "\(operation.route)")
            let told = answers.filter { ![401, 403].contains($0.status) }
            #expect(told.count == (operation.needsCaller ? 1 : 3), "\(operation.route)")
            for answer in told {
                #expect(answer.status == 404 && answer.problem?.code == "featureOff", "\(operation.route)")
                #expect(answer.problem?.couldSucceedLater == false)
                // Without accounts, a mailer alone would not do.
                let setting = mailed.contains(operation.route) ? "accounts" : name
                #expect(answer.problem?.detail.contains("the setting \"\(setting)\"") == true, "\(operation.route)")
            }
        }
    }

    @Test func `a service whose features are off has the same routes`() async throws {
        let all = try await ServiceFixture().routes.operations
        #expect(bare.operations.sorted() == all.sorted())
        let optional = Set(OptionalOperations.all.flatMap(\.operations).map(\.route))
        // The others are on.
        for operation in all where !optional.contains(operation) {
            #expect(
                try await send(operation, to: bare, credential: key).problem?.code != "featureOff", "\(operation)")
        }
    }

    @Test func `accounts without a mailer name it at the links alone`() async throws {
        let accounts = AccountService(ledger: entitlements.ledger, clock: shop.clock, cost: .minimal)
        let routes = ServiceRoutes(Till(entitlements) { $0.accounts = accounts }, RouteSettings(authentication))
        let links = Set(try operations(of: "--mail-server").map(\.route))
        for operation in try operations(of: "--accounts") {
            let credential = operation.needsCaller ? try token() : nil
            let problem = try await send(operation.route, to: routes, credential: credential).problem
            #expect((problem?.code == "featureOff") == links.contains(operation.route), "\(operation.route)")
            if links.contains(operation.route) {
                #expect(problem?.detail.contains("the setting \"mail-server\"") == true)
            }
        }
    }

    private func operations(of option: String) throws -> [APIOperation] {
        try #require(OptionalOperations.all.first { $0.option.hasPrefix(option) }).operations
    }

    @Test func `each optional operation is that of one feature, besides the mailed links`() throws {
        let routes = OptionalOperations.all.flatMap(\.operations).map(\.route)
        let twice = Dictionary(grouping: routes) { $0 }.filter { $0.value.count > 1 }.keys
        #expect(Set(twice) == Set(try operations(of: "--mail-server").map(\.route)))
    }
}
