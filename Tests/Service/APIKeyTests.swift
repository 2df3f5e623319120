import AppStore
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

@Suite struct APIKeyTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    @Test func `a request without a key is refused`() async throws {
        for (method, path) in [
            (HTTPRequest.Method.get, "/v1/users/alice/items"), (.post, "/v1/users/alice/receipts"),
            (.post, "/v1/users/alice/transactions"), (.get, "/v1/products"), (.post, "/v1/proofs/verify"),
            (.put, "/v1/users/alice"),
        ] {
            let answer = try await fixture.send(method, path, body: "{}", key: "")
            #expect(answer.status == 401)
            #expect(answer.code == "unauthenticated")
            #expect(answer.headers[.wwwAuthenticate] == "Bearer")
        }
        #expect(try await fixture.send(.get, "/health/live", key: "").status == 204)
        #expect(try await fixture.send(.get, "/health/ready", key: "").status == 204)
    }

    @Test func `a malformed key is refused`() async throws {
        let parts = fixture.key.split(separator: "_", maxSplits: 2)
        let other = try await fixture.keys.make(name: "other", scopes: [.read]).key
        let otherSecret = other.split(separator: "_", maxSplits: 2)[2]
        for key in [
            "x", String(fixture.key.dropLast()), fixture.key + "A", "till_\(parts[1])_", "till__\(parts[2])",
            "till_\(parts[1])_\(otherSecret)", "TILL_\(parts[1])_\(parts[2])",
        ] {
            let answer = try await fixture.send(.get, "/v1/users/alice/items", key: key)
            #expect(answer.status == 401, "\(key)")
            #expect(answer.code == "keyInvalid")
        }
    }

    @Test func `a revoked key is refused at once`() async throws {
        let (record, key) = try await fixture.keys.make(name: "short-lived", scopes: [.read])
        #expect(try await fixture.send(.get, "/v1/users/alice/items", key: key).status == 200)
        #expect(try await fixture.keys.revoke(record.identifier))
        #expect(try await fixture.send(.get, "/v1/users/alice/items", key: key).code == "keyInvalid")
        #expect(try await fixture.keys.revoke("none") == false)
    }

    @Test func `a key is refused from its expiry on, and the refusal names the date`() async throws {
        let expiresAt = fixture.shop.clock.now().adding(seconds: 60)
        let key = try await fixture.keys.make(name: "contractor", scopes: [.read], expiresAt: expiresAt).key
        fixture.shop.clock.advance(milliseconds: 59_999)
        #expect(try await fixture.send(.get, "/v1/products", key: key).status == 200)
        #expect(try await fixture.keys.validKeys().contains { $0.name == "contractor" })
        fixture.shop.clock.advance(milliseconds: 1)
        let refused = try await fixture.send(.get, "/v1/products", key: key)
        #expect(refused.status == 401)
        let problem = try refused.decoded(ProblemResource.self)
        #expect(problem.code == "keyInvalid")
        #expect(problem.detail.hasPrefix("The API key \"contractor\" expired on \(expiresAt.rfc3339)."))
        #expect(try await !fixture.keys.validKeys().contains { $0.name == "contractor" })
        // A wrong secret learns nothing of the key.
        let other = try await fixture.send(.get, "/v1/products", key: String(key.dropLast()) + "!")
        #expect(try !other.decoded(ProblemResource.self).detail.contains("expired"))
    }

    @Test func `the last use of a key is recorded once an hour, apart from its requests`() async throws {
        let (record, key) = try await fixture.keys.make(name: "used", scopes: [.read])
        func lastUse() async throws -> Timestamp? {
            try await fixture.keys.list().first { $0.identifier == record.identifier }?.lastUsedAt
        }
        func use() async throws {
            #expect(try await fixture.send(.get, "/v1/products", key: key).status == 200)
        }
        let first = fixture.shop.clock.now()
        try await use()
        #expect(try await lastUse() == nil)
        try await fixture.keys.recordUses()
        #expect(try await lastUse() == first)
        fixture.shop.clock.advance(milliseconds: 3_599_999)
        try await use()
        try await fixture.keys.recordUses()
        #expect(try await lastUse() == first)
        fixture.shop.clock.advance(milliseconds: 1)
        try await use()
        try await fixture.keys.recordUses()
        #expect(try await lastUse() == first.adding(seconds: 3600))
        // A refused presentation is no use.
        fixture.shop.clock.advance(milliseconds: 3_600_000)
        #expect(try await fixture.keys.revoke(record.identifier))
        #expect(try await fixture.send(.get, "/v1/products", key: key).status == 401)
        try await fixture.keys.recordUses()
        #expect(try await lastUse() == first.adding(seconds: 3600))
    }

    @Test(arguments: [
        (APIKeyScope.read, HTTPRequest.Method.get, "/v1/users/alice/items", 200),
        (.read, .get, "/v1/users/alice/transactions", 200), (.read, .get, "/v1/users/alice", 404),
        (.read, .get, "/v1/products", 200), (.read, .post, "/v1/proofs/verify", 400),
        (.read, .post, "/v1/users/alice/receipts", 403), (.read, .post, "/v1/users/alice/transactions", 403),
        (.read, .put, "/v1/users/alice/account-token", 403), (.redeem, .put, "/v1/users/alice/account-token", 200),
        (.read, .put, "/v1/users/alice", 403), (.redeem, .post, "/v1/users/alice/receipts", 400),
        (.redeem, .put, "/v1/users/alice", 400), (.redeem, .get, "/v1/users/alice/items", 403),
        (.redeem, .get, "/v1/products", 403), (.read, .get, "/v1/key", 200), (.support, .get, "/v1/key", 403),
    ])
    func `a key allows exactly its scopes`(
        scope: APIKeyScope,
        method: HTTPRequest.Method,
        path: String,
        status: Int
    ) async throws {
        let key = try await fixture.keys.make(name: "one scope", scopes: [scope]).key
        let answer = try await fixture.send(method, path, body: "{}", key: key)
        #expect(answer.status == status)
        if status == 403 { #expect(answer.code == "scopeMissing") }
    }

    @Test func `a key reads its own name, scopes and app`() async throws {
        let app = fixture.shop.catalog.bundleIdentifier
        for (scopes, app, rest) in [
            ([.figures, .read], nil, #""name":"desk","scopes":["read","figures"]}"#),
            ([.read], app, #""name":"desk","scopes":["read"]}"#),
        ] as [(Set<APIKeyScope>, String?, String)] {
            let (record, key) = try await fixture.keys.make(name: "desk", scopes: scopes, app: app)
            let answer = try await fixture.send(.get, "/v1/key", key: key)
            let beginning = app.map { #"{"app":"\#($0)","# } ?? "{"
            let json = beginning + #""keyId":"\#(record.identifier)","# + rest
            #expect(String(decoding: answer.body, as: UTF8.self) == json)
        }
    }

    @Test func `an app's public key opens no route of the service`() async throws {
        let app = fixture.shop.catalog.bundleIdentifier
        let key = try await fixture.keys.makePublic(name: "app", app: app, platform: .apple).identifier
        #expect(fixture.routes.operations.count > 80)
        for operation in fixture.routes.operations {
            let parts = operation.split(separator: " ")
            let method = try #require(HTTPRequest.Method(rawValue: String(parts[0])))
            let path = String(parts[1]).replacing(/\{[a-z]+\}/, with: "x")
            let body = method == .get ? nil : "{}"
            let open = try await fixture.send(method, path, body: body, key: "")
            let answer = try await fixture.send(method, path, body: body, key: key)
            if operation == "POST /v1/notifications/google" {
                // The credential there is an identity token of Google, and no key is one.
                #expect(answer.status == 401 && answer.code == "tokenInvalid")
            } else if open.status == 401 {
                #expect(answer.status == 403, "\(operation) \(answer.status)")
                #expect(answer.code == "keyRequired", "\(operation)")
            } else {
                // The route asks nobody for a key, and learns nothing from this one.
                #expect(answer.status == open.status, "\(operation) \(answer.status)")
                #expect(answer.code == open.code, "\(operation)")
            }
        }
        // The header of the seed's own app names a user's token.
        let name = try #require(HTTPField.Name("idtoken"))
        #expect(try await fixture.send(.get, "/v1/user", key: "", headers: [name: key]).status == 401)
    }

    @Test func `the ledger does not store the secret of a key`() async throws {
        let (record, key) = try await fixture.keys.make(name: "hidden", scopes: [.read])
        let secret = try #require(key.split(separator: "_", maxSplits: 2).last)
        #expect(secret.count == 43)
        for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
            let bytes = try fixture.shop.folder.bytes(name)
            #expect(bytes.contains(Array(record.identifier.utf8)) || name == "ledger.sqlite")
            #expect(!bytes.contains(Array(secret.utf8)))
        }
    }
}
