import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import TestSupport
import Testing

/// The OCSP responder of the store's certificates, as verifiers with online checks ask it. `make test-apple` lets Apple's own library ask.
@Suite struct CertificateStatusTests {
    private let folder: TemporaryFolder
    private let store: Store
    private let clock: ManualClock

    init() throws {
        let garden = try TestGarden()
        (folder, store, clock) = (garden.folder, garden.store, garden.clock)
        try store.nameResponder(at: try #require(URL(string: "http://127.0.0.1:8081")))
    }

    /// A verifier of the store's proofs, and the customer.
    private struct Client {
        let store: Store
        let clock: ManualClock
        let client: TestClient

        private func send(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ body: String? = nil
        ) async throws -> JSONContent {
            let answer = try await client.executeRequest(
                uri: path, method: method, headers: [.authorization: "Bearer key"],
                body: body.map { ByteBuffer(string: $0) })
            #expect([200, 201].contains(answer.status.code), "\(path) \(answer.status)")
            return try JSONDecoder().decode(JSONContent.self, from: Data(buffer: answer.body))
        }

        /// Sends a request of anybody.
        func ask(_ method: HTTPRequest.Method, _ path: String, _ body: [UInt8] = []) async throws -> TestResponse {
            try await client.executeRequest(
                uri: path, method: method, headers: [.contentType: "application/ocsp-request"],
                body: ByteBuffer(bytes: body))
        }

        /// A signed transaction of a store.
        func proof(of store: String = "") async throws -> String {
            let body = #"{"account":"alice","productId":"garden.seeds"}"#
            return try #require(
                try await send(.post, store + "/sandbox/v1/purchases", body)["signedTransaction"]?.text)
        }

        func receipt() async throws -> String {
            try #require(try await send(.get, "/sandbox/v1/accounts/alice/receipt")["receipt"]?.text)
        }

        func set(_ status: String, of store: String = "") async throws {
            let changed = try await send(.patch, store + "/sandbox/v1/settings", #"{"certificateStatus":"\#(status)"}"#)
            #expect(changed["certificateStatus"]?.text ?? "" == status)
        }

        /// The queries of a verifier without a cache.
        func queries(about proof: String) throws -> [RevocationQuery] {
            let anchors = try TrustAnchors(store.rootCertificates.compactMap { try TrustAnchor($0) })
            let verified = try ProofVerifier(anchors: anchors, clock: clock).verify(
                Array(proof.utf8), expecting: ProofExpectations())
            return try RevocationStatuses(clock: clock).queries(about: verified)
        }

        /// The reason why a verifier refuses a proof; nil if it accepts it.
        func refusal(of proof: String) async throws -> ProofRefusal.Reason? {
            let statuses = RevocationStatuses(clock: clock)
            for query in try queries(about: proof) {
                let answer = try await ask(.post, query.responder.path, query.body)
                #expect(answer.status == .ok)
                #expect(answer.headers[.contentType] == "application/ocsp-response")
                do throws(ProofRefusal) {
                    try statuses.record(Array(buffer: answer.body), to: query)
                } catch { return error.reason }
            }
            return nil
        }
    }

    private func withClient(_ body: @escaping @Sendable (Client) async throws -> Void) async throws {
        let application = Application(
            router: store.routes(sandboxKey: APIKey("key"), clock: clock).router())
        try await application.test(.router) { [store, clock] client in
            try await body(Client(store: store, clock: clock, client: client))
        }
    }

    @Test func `transactions and receipts pass the checks until the setting says otherwise`() async throws {
        try await withClient { client in
            let proofs = [try await client.proof(), try await client.receipt()]
            for proof in proofs {
                #expect(
                    Set(try client.queries(about: proof).map(\.responder.absoluteString)) == [
                        "http://127.0.0.1:8081/ocsp"
                    ])
            }
            for (status, reason) in [
                ("", nil), ("revokedLeaf", .certificateRevoked), ("revokedIntermediate", .certificateRevoked),
                ("unknown", .revocationUnavailable), ("", nil),
            ] as [(String, ProofRefusal.Reason?)] {
                try await client.set(status)
                for proof in proofs { #expect(try await client.refusal(of: proof) == reason, "\(status)") }
            }
        }
    }

    @Test func `a request may be the path of a GET`() async throws {
        try await withClient { client in
            let query = try #require(try client.queries(about: try await client.proof()).first)
            let base64 = Base64.encode(query.body)
            let escaped = try #require(base64.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            for path in [base64, escaped] {
                let answer = try await client.ask(.get, "/ocsp/\(path)")
                #expect(answer.status == .ok)
                try RevocationStatuses(clock: client.clock).record(Array(buffer: answer.body), to: query)
            }
        }
    }

    @Test func `anything else gets an error, and an unavailable responder no answer`() async throws {
        try await withClient { client in
            let malformed: [UInt8] = [0x30, 3, 0x0A, 1, 1]
            for (method, path, body) in [
                (HTTPRequest.Method.post, "/ocsp", ""), (.post, "/ocsp", "<html>"), (.get, "/ocsp/AAAA", ""),
                (.get, "/ocsp/A", ""),
            ] {
                let answer = try await client.ask(method, path, Array(body.utf8))
                #expect(answer.status == .ok, "\(path)")
                #expect(Array(buffer: answer.body) == malformed, "\(path)")
            }
            let long = [UInt8](repeating: 0x30, count: OCSPResponder.maximumRequestSize + 1)
            #expect(try await client.ask(.post, "/ocsp", long).status == .contentTooLarge)
            #expect(try await client.ask(.get, "/ocsp").status == .methodNotAllowed)
            let query = try #require(try client.queries(about: try await client.proof()).first)
            try await client.set("unavailable")
            for (method, path) in [(HTTPRequest.Method.post, "/ocsp"), (.get, "/ocsp/\(Base64.encode(query.body))")] {
                let answer = try await client.ask(method, path, query.body)
                #expect((answer.status, answer.body.readableBytes) == (.serviceUnavailable, 0))
            }
        }
    }

    @Test func `a named store answers for its own proofs`() async throws {
        try await withClient { client in
            let (main, one, other) = (
                try await client.proof(), try await client.proof(of: "/stores/a"),
                try await client.proof(of: "/stores/b")
            )
            #expect(try client.queries(about: one).map(\.responder.path) == ["/stores/a/ocsp", "/stores/a/ocsp"])
            try await client.set("revokedLeaf", of: "/stores/a")
            #expect(try await client.refusal(of: one) == .certificateRevoked)
            for proof in [main, other] { #expect(try await client.refusal(of: proof) == nil) }
        }
    }

    @Test func `the files of the keys keep the address, and another start names another`() async throws {
        let reopened = { @Sendable [folder, store, clock] () throws -> Store in
            try Store(
                folder: folder.folder("store"), bundleIdentifier: store.bundleIdentifier,
                configuration: store.configuration, clock: clock, randomness: .seeded(8))
        }
        try await withClient { [store] client in
            let first = try await client.proof()
            // As a command does that signs while the store runs.
            let command = try reopened()
            let signed = try command.read { try $0.signedAppTransaction(of: "alice") }
            #expect(try await client.refusal(of: signed) == nil)
            let later = try reopened()
            try later.nameResponder(at: try #require(URL(string: "https://127.0.0.1:9000")))
            let second = try later.read { try $0.signedAppTransaction(of: "alice") }
            #expect(try client.queries(about: second)[0].responder.absoluteString == "https://127.0.0.1:9000/ocsp")
            #expect(later.rootCertificates == store.rootCertificates)
            // The first address again: earlier proofs are still good.
            try store.nameResponder(at: try #require(URL(string: "https://127.0.0.1:9000")))
            try store.nameResponder(at: try #require(URL(string: "http://127.0.0.1:8081")))
            for proof in [first, try await client.proof()] { #expect(try await client.refusal(of: proof) == nil) }
        }
    }

    @Test func `a store that listens nowhere names an address that leads nowhere`() throws {
        let quiet = try TestGarden()
        let signed = try quiet.store.read { try $0.signedAppTransaction(of: "alice") }
        let proof = try quiet.verifier().verify(Array(signed.utf8), expecting: ProofExpectations())
        let queries = try RevocationStatuses(clock: quiet.clock).queries(about: proof)
        #expect(queries.map { $0.responder.host() } == ["ocsp.till.invalid", "ocsp.till.invalid"])
    }
}
