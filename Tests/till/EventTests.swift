import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing

/// Events that reach every listener of a user, over real sockets.
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
        try await till.makeKey("read", "grant", "erase")
    }

    private let wish = "/v1/me/wishes/com.memolease.sesac1.background3"

    @Test func `a change reaches every listener of its user, and no other listener`() async throws {
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
        let list = try await server.curl("/v1/me/transactions", key: alice).decoded(List<TransactionResource>.self)
        let transaction = try #require(list.elements.first).transactionId
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

        // The service stops at once, although listeners are connected.
        #expect(await server.end(SIGTERM) == 0)
        await expectEventually { (screens + [other]).allSatisfy(\.hasEnded) }
    }

    @Test func `a stream makes no user, and goes on when there is one`() async throws {
        let server = try await ServeProcess(till, arguments)
        let zoe = try token("zoe")
        let screen = EventListener(server.url, token: zoe)
        await expectEventually { screen.kinds == ["ready"] }
        #expect(try await server.curl("/v1/me", key: zoe).status == 404)
        // A client that reconnects before there is a user has had no event.
        let again = EventListener(server.url, token: zoe, after: "0-0")
        #expect(try await server.curl(wish, key: zoe, options: ["--request", "PUT"]).status == 204)
        await expectEventually { screen.kinds == ["ready", "wished"] && again.kinds == ["wished"] }
        #expect(screen.events.map(\.id) == ["0-0", "0-1"])
    }

    @Test func `a listener that reconnects misses no event, even after a kill of the service`() async throws {
        let alice = try token("alice")
        let first = try await ServeProcess(till, arguments)
        let screen = EventListener(first.url, token: alice)
        await expectEventually { screen.kinds == ["ready"] }
        #expect(try await first.curl(wish, key: alice, options: ["--request", "PUT"]).status == 204)
        await expectEventually { screen.events.count == 2 }
        screen.close()
        // No listener is connected now.
        #expect(try await first.curl(wish, key: alice, options: ["--request", "DELETE"]).status == 204)
        #expect(await first.end(SIGKILL) == -SIGKILL)

        let second = try await ServeProcess(till, arguments)
        let profile = #"{"nickname":"Mint"}"#
        #expect(
            try await second.curl("/v1/me/profile", key: alice, body: profile, options: ["--request", "PATCH"]).status
                == 200)
        let again = EventListener(second.url, token: alice, after: try #require(screen.events.last).id)
        await expectEventually { again.kinds == ["wishRemoved", "profileChanged"] }
        // After "0-0", a listener receives all events. After an unknown identifier, it receives "reset".
        let whole = EventListener(second.url, token: alice, after: "0-0")
        await expectEventually { whole.kinds == ["wished", "wishRemoved", "profileChanged"] }
        for strange in ["9-0", "0-99", "x", "-1--1", "99999999999999999999-0"] {
            let lost = EventListener(second.url, token: alice, after: strange)
            await expectEventually { lost.kinds == ["reset"] }
            #expect(lost.events.first?.id == "0-3")
        }
        // The service forgets the first of more than two hundred changes.
        for number in 1...210 {
            let method = number.isMultiple(of: 2) ? "DELETE" : "PUT"
            #expect(try await second.curl(wish, key: alice, options: ["--request", method]).status == 204)
        }
        let late = EventListener(second.url, token: alice, after: "0-3")
        await expectEventually { late.kinds.first == "reset" }
    }

    /// A commit of another process on the same ledger wakes no listener. The service finds it within seconds.
    @Test func `a change by another process reaches a listener`() async throws {
        let alice = try token("alice")
        let first = try await ServeProcess(till, arguments)
        let second = try await ServeProcess(till, arguments)
        let screen = EventListener(first.url, token: alice)
        await expectEventually { screen.kinds == ["ready"] }
        #expect(try await second.curl(wish, key: alice, options: ["--request", "PUT"]).status == 204)
        await expectEventually { screen.kinds == ["ready", "wished"] }
    }

    @Test func `the erasure of a user is the last event of its listeners`() async throws {
        let key = try await key()
        let alice = try token("alice")
        let server = try await ServeProcess(till, arguments)
        let screen = EventListener(server.url, token: alice)
        await expectEventually { screen.kinds == ["ready"] }
        #expect(try await server.curl(wish, key: alice, options: ["--request", "PUT"]).status == 204)
        await expectEventually { screen.kinds == ["ready", "wished"] }
        let path = "/v1/users/alice/erasure?issuer=\(TestIssuer.issuer)"
        #expect(try await server.curl(path, key: key, options: ["--request", "POST"]).status == 204)
        await expectEventually { screen.hasEnded }
        #expect(screen.kinds == ["ready", "wished", "erased"])
        // The client reconnects with a token that is still valid. The service does not create the user again.
        let again = try await server.curl(
            "/v1/me/events", key: alice, options: ["--header", "Last-Event-ID: 0-1"])
        #expect(again.status == 204)
        let export = "/v1/users/alice/export?issuer=\(TestIssuer.issuer)"
        let exporter = try await till.run("keys", "make", "exporter", "--scope", "export").output
            .trimmingCharacters(in: .newlines)
        #expect(try await server.curl(export, key: exporter).code == "userNotFound")
    }

    @Test func `a logout disconnects the listeners of its session alone`() async throws {
        let server = try await ServeProcess(till, ["--live-events", "--accounts"])
        let credentials = #"{"email":"mint@example.com","password":"correct horse"}"#
        let here = try await server.curl("/v1/accounts", body: credentials).decoded(EntranceResource.self).tokens
        let there = try await server.curl("/v1/sessions", body: credentials).decoded(EntranceResource.self).tokens
        let screens = [here, there].map { EventListener(server.url, token: $0.accessToken) }
        await expectEventually { screens.allSatisfy { $0.kinds == ["ready"] } }
        let end = "{\"refreshToken\":\"\(here.refreshToken)\"}"
        #expect(try await server.curl("/v1/sessions/end", body: end).status == 204)
        await expectEventually { screens[0].hasEnded }
        #expect(!screens[1].hasEnded)
    }

    /// Listeners that left without closing their connection must make room for new ones.
    @Test func `a listener above a limit replaces the oldest one`() async throws {
        let alice = try token("alice")
        let server = try await ServeProcess(till, arguments + ["--maximum-connections", "100"])
        var screens: [EventListener] = []
        for number in 1...21 {
            screens.append(EventListener(server.url, token: alice))
            await expectEventually { screens.last?.kinds == ["ready"] }
            #expect(number == 21 || screens.allSatisfy { !$0.hasEnded })
        }
        await expectEventually { screens[0].hasEnded }
        #expect(screens.dropFirst().allSatisfy { !$0.hasEnded })
        // Listeners may use half of the connections. One more replaces the oldest of the address with the most listeners.
        for number in 0..<30 {
            screens.append(EventListener(server.url, token: try token("user\(number)")))
            await expectEventually { screens.last?.kinds == ["ready"] }
        }
        #expect(screens.dropFirst().allSatisfy { !$0.hasEnded })
        screens.append(EventListener(server.url, token: try token("bob")))
        await expectEventually { screens.last?.kinds == ["ready"] }
        await expectEventually { screens[1].hasEnded }
        #expect(screens.dropFirst(2).allSatisfy { !$0.hasEnded })
        // A HEAD request replaces no listener.
        #expect(try await server.curl("/v1/me/events", key: alice, options: ["--head"]).status == 200)
        #expect(try await server.curl("/v1/me/events").status == 401)
        withExtendedLifetime(screens) {}
    }
}
