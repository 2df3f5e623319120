import Foundation
import Proofs
import TestSupport
import Testing

/// The recorded requests of RevenueCat's iOS SDK, sent to a running service. Only the key and the placeholders of proofs are
/// replaced.
@Suite(.enabled(if: Vectors.areAvailable)) struct RecordedRequestTests {
    /// A line of `requests.jsonl`.
    private struct Recorded {
        let name: String
        let method: String
        let path: String
        let headers: [(name: String, value: String)]
        let body: JSONObject?

        init?(_ line: Substring) throws {
            guard case .object(let object) = try JSONParser.parse(Array(line.utf8)),
                case .string(let name)? = object["name"], case .string(let method)? = object["method"],
                case .string(let path)? = object["path"], case .object(let headers)? = object["headers"]
            else { return nil }
            (self.name, self.method, self.path) = (name, method, path)
            self.headers = headers.members.compactMap { member in
                guard case .string(let value) = member.value else { return nil }
                return (member.key, value)
            }
            if case .object(let body)? = object["body"] { self.body = body } else { body = nil }
        }
    }

    private static func recorded() throws -> [Recorded] {
        let file = try #require(Vectors.folder).appending(path: "revenuecat/requests.jsonl")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { try Recorded($0) }
    }

    /// The schema of the answer to a path; nil for an answer without a body.
    private static func schema(of path: String) -> String? {
        if path.hasPrefix("/v1/config/") { return nil }
        let schemas = [
            ("/receipts", "CustomerInfo"), ("/identify", "CustomerInfo"), ("/attributes", "Accepted"),
            ("/intro_eligibility", "IntroEligibility"), ("/restore/eligibility", "RestoreEligibility"),
            ("/attribution", "Accepted"), ("/adservices_attribution", "Accepted"), ("/diagnostics", "Accepted"),
            ("/health", "Accepted"),
        ]
        return schemas.first { path.hasSuffix($0.0) }?.1 ?? "CustomerInfo"
    }

    @Test func `each recorded request gets an answer that the SDK can read`() async throws {
        let till = try TillProcess()
        let made = try await till.run(
            "keys", "make", "app", "--public", "--bundle-id", "com.memolease.sesac1", "--json")
        let key = try made.decoded(MadePublicKey.self).key
        let proof = try await Self.proof(till)
        let serve = try await ServeProcess(till, ["--store", "--doors", "revenuecat"])
        let recorded = try Self.recorded()
        #expect(recorded.count > 50)
        for request in recorded {
            var body = request.body
            if body?["fetch_token"] != nil { body = body?.replacing("fetch_token", with: .string(proof)) }
            let headers = request.headers.filter { $0.name.lowercased() != "authorization" }.flatMap {
                ["--header", "\($0.name): \($0.value)"]
            }
            let answer = try await serve.curl(
                request.path, key: key, body: body.map { JSONValue.object($0).compactText },
                options: headers + ["--request", request.method])
            #expect((200...201).contains(answer.status), "\(request.name): \(answer.status)")
            guard let name = Self.schema(of: request.path) else { continue }
            let json = try JSONParser.parse(Array(answer.body))
            #expect(try JSONSchema(named: name).violations(in: json) == [], "\(request.name)")
        }
        #expect(await serve.end(SIGTERM) == 0)
    }

    /// The signed transaction of a purchase that nobody has redeemed.
    private static func proof(_ till: TillProcess) async throws -> String {
        let bought = try await till.run("store", "buy", "com.memolease.sesac1.sprout1", "--account", "alice", "--json")
        struct Queued: Decodable { let id: Int }
        let number = try bought.decoded(Queued.self).id
        return try await till.run("receipt", "export", "--user", "alice", "--transaction", "\(number)").output
            .trimmingCharacters(in: .newlines)
    }
}

/// The output of `till keys make --public --json`.
private struct MadePublicKey: Decodable {
    let key: String
}
