import Foundation
import HTTPSupport
import HTTPTypes
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The writes that are refused first while many requests wait for a commit.
@Suite struct SheddingTests {
    let fixture: ServiceFixture
    let issuer: TestIssuer

    init() async throws {
        issuer = try TestIssuer()
        let folder = try TemporaryFolder()
        fixture = try await ServiceFixture(
            tokens: issuer.settings(keptIn: folder),
            keeping: folder)
    }

    private func token() throws -> String {
        try issuer.token(for: "alice", at: fixture.shop.clock.now().millisecondsSince1970 / 1000)
    }

    private enum Caller {
        case stranger, app, backEnd
    }

    /// Each caller's writes, with the number of waiting requests from which they are refused; nil for never.
    private static let routes: [(Caller, HTTPRequest.Method, String, Int?)] = [
        (.stranger, .post, "/v1/accounts", 128), (.stranger, .post, "/v1/sessions", 128),
        (.stranger, .post, "/v1/accounts/recovery", 128), (.stranger, .post, "/v1/accounts/confirmation", 128),
        (.stranger, .post, "/v1/accounts/availability", nil), (.stranger, .post, "/v1/sessions/renewal", nil),
        (.stranger, .post, "/v1/notifications/apple", nil),
        (.app, .put, "/v1/me/attributes", 256), (.app, .patch, "/v1/me/profile", 256),
        (.app, .put, "/v1/me/account/password", 256), (.app, .get, "/v1/products", nil),
        (.app, .post, "/v1/me/transactions", nil), (.app, .post, "/v1/me/receipts", nil),
        (.backEnd, .put, "/v1/users/alice/attributes", nil), (.backEnd, .post, "/v1/users/alice/transactions", nil),
        (.backEnd, .post, "/v1/users/alice/grants", nil),
    ]

    @Test(arguments: [0, 127, 128, 255, 256, 511, 512])
    func `writes without a proof are refused first`(waitingCount: Int) async throws {
        let token = try token()
        try await fixture.ledger.holding(waitingCount) {
            for (caller, method, path, limit) in Self.routes {
                let key: String? =
                    switch caller {
                    case .stranger: ""
                    case .app: token
                    case .backEnd: nil
                    }
                // The body is invalid, so that an admitted request does not wait for the writer.
                let answer = try await fixture.send(method, path, body: method == .get ? nil : "[", key: key)
                if let limit, waitingCount >= limit {
                    #expect((answer.status, answer.code) == (503, "tooBusy"), "\(path)")
                    #expect(answer.headers[.retryAfter] == "1")
                } else {
                    #expect(answer.status < 500 && answer.status != 401, "\(path): \(answer.status)")
                }
            }
        }
    }

    @Test func `purchases are redeemed while half of the places are taken`() async throws {
        let signed = try fixture.shop.store.signedTransaction(try fixture.buy("sprout1").identifier)
        let (fixture, token) = (fixture, try token())
        try await withThrowingTaskGroup(of: ServiceFixture.Answer.self) { group in
            try await fixture.ledger.holding(256) {
                group.addTask {
                    try await fixture.send(
                        .post, "/v1/me/transactions", body: "{\"signedTransaction\":\"\(signed)\"}", key: token)
                }
                await expectEventually { fixture.ledger.waitingCount == 257 }
            }
            let redeemed = try #require(try await group.next())
            #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        }
    }

    @Test func `requests that arrive at once take no more than their places`() async throws {
        let (fixture, token) = (fixture, try token())
        let refused = Refusals()
        let gate = await fixture.ledger.hangCommit()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let answer = try await fixture.send(
                        .put, "/v1/me/attributes",
                        body: "{\"attributes\":[{\"name\":\"a\(number % 10)\",\"value\":\"x\"}]}",
                        key: token)
                    if answer.status == 503 { refused.count.add(1, ordering: .relaxed) }
                    #expect([204, 503].contains(answer.status))
                }
            }
            await expectEventually { refused.count.load(ordering: .relaxed) == 44 }
            #expect(fixture.ledger.waitingCount == 256)
            gate.signal()
            try await group.waitForAll()
        }
        #expect(refused.count.load(ordering: .relaxed) == 44)
    }
}

private final class Refusals: Sendable {
    let count = Atomic(0)
}
