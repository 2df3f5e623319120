import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Exports over HTTP.
@Suite struct ExportRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func grant(to user: String) async throws {
        let body = #"{"item":{"collection":"sprout","number":1},"reason":"a prize"}"#
        #expect(try await fixture.send(.post, "/v1/users/\(user)/grants", body: body).status == 201)
    }

    /// A line of the export `events`.
    private struct Event: Decodable {
        let user: String
        let actor: String
        let actorName: String?

        private enum CodingKeys: String, CodingKey {
            case user
            case actor
            case actorName = "actor_name"
        }
    }

    @Test func `each part leads to the next`() async throws {
        for user in ["alice", "bob", "carol"] { try await grant(to: user) }
        let link = try #require(HTTPField.Name("Link"))
        var (text, path): (String, String?) = ("", "/v1/exports/events?pageSize=2")
        while let part = path {
            let answer = try await fixture.send(.get, part)
            #expect(answer.status == 200)
            #expect(answer.contentType == "text/csv; charset=utf-8; header=present")
            #expect(answer.headers[.cacheControl] == "no-store")
            text += String(decoding: answer.body, as: UTF8.self)
            path = answer.headers[link]?.firstMatch(of: /<(.+)>; rel="next"/).map { String($0.1) }
        }
        let lines = text.split(whereSeparator: \.isNewline)
        #expect(lines.count == 4)
        #expect(lines.first?.hasPrefix("user,user_issuer,number,") == true)
        #expect(Set(lines.dropFirst().map { $0.prefix { $0 != "," } }) == ["alice", "bob", "carol"])
    }

    @Test func `the export of events names the API key of each actor`() async throws {
        let desk = try await fixture.keys.make(name: "support desk", scopes: [.grant])
        let body = #"{"item":{"collection":"sprout","number":1},"reason":"a prize"}"#
        #expect(try await fixture.send(.post, "/v1/users/alice/grants", body: body, key: desk.key).status == 201)
        #expect(try await fixture.keys.revoke(desk.record.identifier))
        try await grant(to: "bob")
        let revocation = #"{"reason":"A mistake"}"#
        let grants = try await fixture.send(.get, "/v1/users/bob/grants").decoded(List<GrantResource>.self).elements
        let granted = try #require(grants.first)
        let path = "/v1/users/bob/grants/\(granted.grantId)/revocation"
        #expect(try await fixture.send(.put, path, body: revocation).status == 200)
        // A key that the ledger does not have.
        let unknown = Grant(
            identifier: "g", item: Item(collection: "sprout", number: 1), reason: "r", grantedBy: "unknown",
            grantedAt: fixture.shop.clock.now(), endsAt: nil)
        let carol = try #require(User(name: "carol"))
        try await fixture.ledger.write {
            _ = try $0.add(unknown, for: carol)
        }
        let lines = try await fixture.send(.get, "/v1/exports/events?format=jsonl").body
            .split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Event.self, from: $0) }
        #expect(lines.map(\.user) == ["alice", "bob", "bob", "carol"])
        #expect(lines.map(\.actorName) == ["support desk", "tests", "tests", nil])
        #expect(lines.map(\.actor).first == "key \(desk.record.identifier)")
        #expect(lines.map(\.actor).last == "key unknown")
        let csv = String(decoding: try await fixture.send(.get, "/v1/exports/events").body, as: UTF8.self)
        let rows = csv.split(separator: "\r\n")
        #expect(rows.first?.hasSuffix(",reason,actor_name") == true)
        #expect(rows.dropFirst().first?.hasSuffix(",a prize,support desk") == true)
    }

    @Test func `each export comes in both formats`() async throws {
        try await grant(to: "alice")
        for export in ["transactions", "customers", "events"] {
            for (format, type) in [("csv", "text/csv; charset=utf-8; header=present"), ("jsonl", "application/jsonl")] {
                let answer = try await fixture.send(.get, "/v1/exports/\(export)?format=\(format)")
                #expect((answer.status, answer.contentType) == (200, type))
            }
        }
    }

    @Test(arguments: [
        ("sales", 404, "exportUnknown"), ("events?format=xlsx", 400, "parameterInvalid"),
        ("events?pageSize=0", 400, "parameterInvalid"), ("events?pageSize=1001", 400, "parameterInvalid"),
        ("events?cursor=eA", 400, "parameterInvalid"), ("events?cursor=%21", 400, "parameterInvalid"),
    ])
    func `a request that makes no sense is refused`(path: String, status: Int, code: String) async throws {
        let answer = try await fixture.send(.get, "/v1/exports/\(path)")
        #expect((answer.status, answer.code) == (status, code))
    }

    @Test func `a key needs the scope`() async throws {
        let key = try await fixture.keys.make(name: "other", scopes: [.read, .figures]).key
        #expect(try await fixture.send(.get, "/v1/exports/events", key: key).code == "scopeMissing")
    }
}
