import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Answers about users whom the service does not know.
@Suite struct UnknownUserTests {
    private let fixture: ServiceFixture
    private let issuer: TestIssuer

    init() async throws {
        issuer = try TestIssuer()
        let folder = try TemporaryFolder()
        fixture = try await ServiceFixture(tokens: issuer.settings(keptIn: folder), keeping: folder)
    }

    private func unknown(_ path: String, key: String? = nil) async throws -> UnknownUser? {
        let answer = try await fixture.send(.get, path, key: key)
        try #require(answer.status == 200, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
        return try? answer.decoded(UnknownUser.self)
    }

    private func makeKnown(_ path: String) async throws {
        #expect(try await fixture.send(.put, path).status == 200)
    }

    private static let described = (try? AppOperation.listsAboutUsers()) ?? []
    /// The schema of wishes is that of products. The item 0 is each user's own.
    private static let lists = described + ["wishes", "items/sprout/0/explanation"]

    @Test func `the operations about a user are found by their answers`() {
        #expect(Set(["items", "rights", "balances", "transactions", "grants", "story"]).isSubset(of: Self.described))
    }

    @Test(arguments: lists) func `a user without anything is told from an unknown one`(list: String) async throws {
        #expect(try await unknown("/v1/users/nobody/\(list)") == UnknownUser(knownUnder: []))
        try await makeKnown("/v1/users/alice/account-token")
        #expect(try await unknown("/v1/users/alice/\(list)") == nil)
        // Apps learn nothing about other users, and their own user may be new.
        guard fixture.routes.operations.contains("GET /v1/me/\(list)") else { return }
        let token = try issuer.token(for: "carol", at: fixture.shop.clock.now().millisecondsSince1970 / 1000)
        #expect(try await unknown("/v1/me/\(list)", key: token) == nil)
    }

    @Test(arguments: lists) func `a forgotten issuer is told, and one too many`(list: String) async throws {
        try await makeKnown("/v1/users/mint/account-token?issuer=customer")
        try await makeKnown("/v1/users/mint/account-token?issuer=\(TestIssuer.issuer)")
        try await makeKnown("/v1/users/alice/account-token")
        #expect(
            try await unknown("/v1/users/mint/\(list)")
                == UnknownUser(knownUnder: ["customer", TestIssuer.issuer].sorted()))
        #expect(try await unknown("/v1/users/mint/\(list)?issuer=customer") == nil)
        #expect(try await unknown("/v1/users/alice/\(list)?issuer=customer") == UnknownUser(knownUnder: [""]))
    }

    @Test func `a key for one app learns no issuers`() async throws {
        try await makeKnown("/v1/users/mint/account-token?issuer=customer")
        let app = fixture.shop.catalog.bundleIdentifier
        let key = try await fixture.keys.make(name: "shop", scopes: Set(APIKeyScope.allCases), app: app).key
        #expect(try await unknown("/v1/users/mint/items", key: key) == UnknownUser(knownUnder: []))
    }

    @Test func `a refusal says which issuer may be missing`() async throws {
        try await makeKnown("/v1/users/mint/account-token?issuer=customer")
        func detail(_ path: String, _ method: HTTPRequest.Method = .get) async throws -> String {
            let problem = try await fixture.send(method, path).decoded(ProblemResource.self)
            #expect(problem.status == 404 && problem.code == "userNotFound")
            return problem.detail
        }
        let forgotten = "No user \"mint\" is known; did you forget the issuer customer?"
        #expect(try await detail("/v1/users/mint") == forgotten)
        #expect(try await detail("/v1/users/mint/export") == forgotten)
        #expect(try await detail("/v1/users/mint/erasure", .post) == forgotten)
        #expect(try await detail("/v1/users/mnt") == "No user \"mnt\" is known; did you forget the issuer?")
        try await makeKnown("/v1/users/alice/account-token")
        #expect(
            try await detail("/v1/users/alice?issuer=customer")
                == "No user \"alice\" of this issuer is known. Leave out the issuer for the back end's own user of this name."
        )
    }

    @Test func `a change of what an unknown user has says that the user is unknown`() async throws {
        try await makeKnown("/v1/users/mint/account-token?issuer=customer")
        for (path, code) in [
            ("grants/x/revocation", "grantNotFound"), ("transactions/1/revocation", "transactionNotFound"),
            ("transactions/1/reinstatement", "transactionNotFound"),
        ] {
            for (query, isTold) in [("", true), ("?issuer=customer", false)] {
                let answer = try await fixture.send(.put, "/v1/users/mint/\(path)\(query)", body: #"{"reason":"r"}"#)
                let problem = try answer.decoded(ProblemResource.self)
                #expect(problem.code == code)
                #expect(problem.detail.contains("did you forget the issuer customer?") == isTold, "\(problem.detail)")
            }
        }
    }

    @Test func `a customer whose id has spaces is found by the id`() async throws {
        let customer = try #require(CustomerIdentifier("mint leaf"))
        try await makeKnown(
            "/v1/users/\(try #require(customer.user.name.addingPercentEncoding(withAllowedCharacters: .alphanumerics)))"
                + "/account-token?issuer=customer")
        let issuers = try await fixture.ledger.read { try $0.users.issuers(ofName: "mint leaf") }
        #expect(issuers == ["customer"])
    }
}
