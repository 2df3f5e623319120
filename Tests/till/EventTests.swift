import Foundation
import TestSupport
import Testing

/// What happens to a user shows on every screen, over real sockets.
@Suite struct EventTests {
    let till: TillProcess
    let issuer: TestIssuer
    let arguments: [String]

    init() throws {
        till = try TillProcess()
        issuer = try TestIssuer()
        let keys = till.folder.file("keys.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        arguments = [
            "--live-events", "--profiles", "--jwt-issuer", TestIssuer.issuer, "--jwt-audience", TestIssuer.audience,
            "--jwt-keys", keys.path,
        ]
    }

    private func token(_ user: String) throws -> String {
        try issuer.token(for: user, at: Int64(Date.now.timeIntervalSince1970))
    }

    private func key() async throws -> String {
        try await till.run("keys", "make", "tests", "--scope", "read", "--scope", "grant", "--scope", "erase").output
            .trimmingCharacters(in: .newlines)
    }

    private let wish = "/v1/me/wishes/com.memolease.sesac1.background3"

    @Test func eachChangeShowsOnEveryScreenOfItsUserAlone() async throws {
        _ = try await till.run(
            "buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--kill-after", "purchased")
        let receipt = try await till.run("receipt", "export", "--user", "alice").output
            .trimmingCharacters(in: .newlines)
        let key = try await key()
        let server = try await ServeProcess(till, arguments)
        let alice = try token("alice")
        let screens = [EventListener(server.url, token: alice), EventListener(server.url, token: alice)]
        let other = EventListener(server.url, token: try token("bob"))
        await expectEventually { (screens + [other]).allSatisfy { $0.kinds == ["ready"] } }

        let redeemed = try await server.curl("/v1/me/receipts", key: alice, body: "{\"receipt\":\"\(receipt)\"}")
        #expect(redeemed.status == 200)
        #expect(try await server.curl(wish, key: alice, options: ["--request", "PUT"]).status == 204)
        #expect(try await server.curl(wish, key: alice, options: ["--request", "PUT"]).status == 204)
        #expect(try await server.curl(wish, key: alice, options: ["--request", "DELETE"]).status == 204)
        let profile = #"{"nickname":"Mint","chosen":[{"collection":"sprout","number":1}]}"#
        #expect(
            try await server.curl("/v1/me/profile", key: alice, body: profile, options: ["--request", "PATCH"]).status
                == 200)
        let list = try await server.curl("/v1/me/transactions", key: alice).object()["transactions"]
        let transaction = try #require((list as? [[String: Any]])?.first?["transactionId"] as? String)
        let taken = try await server.curl(
            "/v1/users/alice/transactions/\(transaction)/revocation?issuer=\(TestIssuer.issuer)", key: key,
            body: #"{"reason":"a secret of the team's"}"#, options: ["--request", "PUT"])
        #expect(taken.status == 200)
        let expected = ["ready", "granted", "wished", "wishRemoved", "profileChanged", "revoked"]
        await expectEventually { screens.allSatisfy { $0.kinds == expected } }
        let events = screens[0].events
        #expect(
            events
                == screens[1].events.enumerated().map { index, event in
                    var event = event
                    event.receivedAt = events[index].receivedAt
                    return event
                })
        #expect(
            events[1].data.contains("\"reference\":\"\(transaction)\",\"subject\":\"com.memolease.sesac1.sprout1\""))
        #expect(events[2].data.contains("\"subject\":\"com.memolease.sesac1.background3\""))
        #expect(!events[5].data.contains("secret"))
        #expect(other.kinds == ["ready"])
        #expect(events.map(\.id) == ["0-0", "1-0", "1-1", "1-2", "1-3", "2-3"])

        // The service ends at once though all of them listen.
        #expect(await server.end(SIGTERM) == 0)
        await expectEventually { (screens + [other]).allSatisfy(\.hasEnded) }
    }

    @Test func whoComesAgainMissesNothingThoughTheServiceWasKilled() async throws {
        let alice = try token("alice")
        let first = try await ServeProcess(till, arguments)
        let screen = EventListener(first.url, token: alice)
        await expectEventually { screen.kinds == ["ready"] }
        #expect(try await first.curl(wish, key: alice, options: ["--request", "PUT"]).status == 204)
        await expectEventually { screen.events.count == 2 }
        screen.close()
        // While nobody listens.
        #expect(try await first.curl(wish, key: alice, options: ["--request", "DELETE"]).status == 204)
        #expect(await first.end(SIGKILL) == -SIGKILL)

        let second = try await ServeProcess(till, arguments)
        let profile = #"{"nickname":"Mint"}"#
        #expect(
            try await second.curl("/v1/me/profile", key: alice, body: profile, options: ["--request", "PATCH"]).status
                == 200)
        let again = EventListener(second.url, token: alice, after: try #require(screen.events.last).id)
        await expectEventually { again.kinds == ["wishRemoved", "profileChanged"] }
        // Everything, for who knows nothing; and anew, for who knows another ledger or nonsense.
        let whole = EventListener(second.url, token: alice, after: "0-0")
        await expectEventually { whole.kinds == ["wished", "wishRemoved", "profileChanged"] }
        for strange in ["9-0", "0-99", "x", "-1--1", "99999999999999999999-0"] {
            let lost = EventListener(second.url, token: alice, after: strange)
            await expectEventually { lost.kinds == ["reset"] }
            #expect(lost.events.first?.id == "0-3")
        }
        // Of two hundred changes and more, the first are forgotten.
        for number in 1...210 {
            let method = number.isMultiple(of: 2) ? "DELETE" : "PUT"
            #expect(try await second.curl(wish, key: alice, options: ["--request", method]).status == 204)
        }
        let late = EventListener(second.url, token: alice, after: "0-3")
        await expectEventually { late.kinds.first == "reset" }
    }

    /// Another process on the same ledger wakes nobody here; within seconds it is seen all the same.
    @Test func whatAnotherProcessDoesIsSeen() async throws {
        let alice = try token("alice")
        let first = try await ServeProcess(till, arguments)
        let second = try await ServeProcess(till, arguments)
        let screen = EventListener(first.url, token: alice)
        await expectEventually { screen.kinds == ["ready"] }
        #expect(try await second.curl(wish, key: alice, options: ["--request", "PUT"]).status == 204)
        await expectEventually { screen.kinds == ["ready", "wished"] }
    }

    @Test func whoIsErasedHearsItLast() async throws {
        let key = try await key()
        let alice = try token("alice")
        let server = try await ServeProcess(till, arguments)
        let screen = EventListener(server.url, token: alice)
        await expectEventually { screen.kinds == ["ready"] }
        let path = "/v1/users/alice/erasure?issuer=\(TestIssuer.issuer)"
        #expect(try await server.curl(path, key: key, options: ["--request", "POST"]).status == 204)
        await expectEventually { screen.hasEnded }
        #expect(screen.kinds == ["ready", "erased"])
    }

    @Test func noMoreThanTwentyScreensListenAtOnce() async throws {
        let alice = try token("alice")
        let server = try await ServeProcess(till, arguments)
        let screens = (0..<20).map { _ in EventListener(server.url, token: alice) }
        await expectEventually { screens.allSatisfy { $0.kinds == ["ready"] } }
        let refused = try await server.curl("/v1/me/events", key: alice)
        #expect(refused.status == 429)
        #expect(refused.code == "tooManyListeners")
        // A question for the head alone takes no place.
        let bob = try token("bob")
        for _ in 0..<25 {
            #expect(try await server.curl("/v1/me/events", key: bob, options: ["--head"]).status == 200)
        }
        let other = EventListener(server.url, token: bob)
        await expectEventually { other.kinds == ["ready"] }
        #expect(try await server.curl("/v1/me/events").status == 401)
        withExtendedLifetime(screens) {}
    }
}
