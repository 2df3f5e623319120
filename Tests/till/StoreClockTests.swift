import AppStore
import Entitlements
import Features
import Foundation
import HTTPSupport
import TestSupport
import Testing

/// The clock of a local App Store beside a service, in the real binary.
@Suite struct StoreClockTests {
    enum Way: CaseIterable {
        case command
        case http
    }

    private static let sandboxKey = "the-sandbox-key-of-the-tests"
    /// The catalog of the demonstration has subscriptions.
    private static let catalog = [
        "--catalog", Project.root.appending(path: "Sources/till/Resources", directoryHint: .isDirectory).path,
    ]
    private static let arguments =
        ["--store", "--sandbox-key", sandboxKey, "--webhooks", "--webhook-private-addresses"] + catalog

    /// The types of the messages about a subscription that renews.
    private static func types(renewals: Int) -> [String] {
        ["subscription.purchased"] + Array(repeating: "subscription.renewed", count: renewals)
    }

    /// The types of the messages about a user, in the order of the user's history.
    private func types(_ receiver: WebhookReceiver, of user: String) -> [String] {
        var messages: [Int64: String] = [:]
        for message in receiver.received.compactMap({ try? $0.decoded(WebhookMessageResource.self) })
        where message.data.user.name == user {
            messages[message.data.number] = message.type
        }
        return messages.sorted { $0.key < $1.key }.map(\.value)
    }

    @Test(arguments: Way.allCases)
    func `a step of the clock reports no end of a subscription that renews`(way: Way) async throws {
        let till = try TillProcess()
        func run(_ arguments: String...) async throws -> TillProcess.Result {
            try await till.run(arguments: arguments + Self.catalog)
        }
        let receiver = try await WebhookReceiver()
        let key = try await till.makeKey("webhooks")
        let service = try await ServeProcess(till, Self.arguments)
        #expect(
            try await service.curl("/v1/webhooks", key: key, body: "{\"url\":\"\(receiver.url)\"}").status == 201)
        for user in ["alice", "bob", "carol"] {
            #expect(try await run("buy", "com.memolease.sesac1.master.monthly", "--user", user).status == 0)
        }
        let sales = try await run("store", "sales", "carol", "--json").decoded(List<SaleResource>.self)
        let transaction = try #require(sales.elements.last).transactionId
        #expect(try await run("store", "subscription", "cancel", transaction).status == 0)
        await expectEventually { types(receiver, of: "carol").last == "subscription.expiring" }
        switch way {
        case .command:
            #expect(try await run("store", "time", "--advance", "3mo").status == 0)
        case .http:
            let advanced = try await service.curl(
                "/sandbox/v1/time/advance", key: Self.sandboxKey, body: #"{"by":"3mo"}"#)
            #expect(advanced.status == 200)
        }
        await expectEventually {
            ["alice", "bob"].allSatisfy { types(receiver, of: $0).count >= 4 }
                && types(receiver, of: "carol").last == "purchase.expired"
        }
        for user in ["alice", "bob"] {
            #expect(types(receiver, of: user) == Self.types(renewals: 3))
        }
        // A step may pass over the three days before the end, or stop in them at another customer's renewal.
        #expect(
            types(receiver, of: "carol").filter { $0 != "subscription.endsSoon" }
                == ["subscription.purchased", "subscription.expiring", "purchase.expired"])
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a step of one customer's clock moves no other customer of the service`() async throws {
        let till = try TillProcess()
        func run(_ arguments: String...) async throws -> TillProcess.Result {
            try await till.run(arguments: arguments + Self.catalog)
        }
        let receiver = try await WebhookReceiver()
        let key = try await till.makeKey("webhooks")
        let service = try await ServeProcess(till, Self.arguments)
        #expect(
            try await service.curl("/v1/webhooks", key: key, body: "{\"url\":\"\(receiver.url)\"}").status == 201)
        for user in ["alice", "bob"] {
            #expect(try await run("buy", "com.memolease.sesac1.master.monthly", "--user", user).status == 0)
        }
        #expect(try await run("store", "time", "--account", "alice", "--advance", "3mo").status == 0)
        await expectEventually { types(receiver, of: "alice").count >= 4 }
        #expect(types(receiver, of: "alice") == Self.types(renewals: 3))
        let sales = try await run("store", "sales", "alice", "--json").decoded(List<SaleResource>.self)
        let transaction = try #require(sales.elements.last).transactionId
        #expect(try await run("store", "subscription", "cancel", transaction).status == 0)
        let advanced = try await service.curl(
            "/sandbox/v1/time/advance", key: Self.sandboxKey, body: #"{"by":"2mo","account":"alice"}"#)
        #expect(advanced.status == 200)
        await expectEventually { types(receiver, of: "alice").last == "purchase.expired" }
        // A command plays the app at the customer's time, too.
        #expect(try await run("buy", "com.memolease.sesac1.master.monthly", "--user", "alice").status == 0)
        await expectEventually { types(receiver, of: "alice").last == "subscription.renewed" }
        #expect(types(receiver, of: "bob") == ["subscription.purchased"])
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a service that was stopped while the clock advanced gets each renewal after its start`() async throws {
        let till = try TillProcess()
        let receiver = try await WebhookReceiver()
        let key = try await till.makeKey("webhooks")
        var service = try await ServeProcess(till, Self.arguments)
        #expect(
            try await service.curl("/v1/webhooks", key: key, body: "{\"url\":\"\(receiver.url)\"}").status == 201)
        let bought = try await till.run(
            arguments: ["buy", "com.memolease.sesac1.master.monthly", "--user", "alice"] + Self.catalog)
        #expect(bought.status == 0)
        for renewals in 0..<4 {
            if renewals > 0 {
                #expect(await service.end(SIGTERM) == 0)
                let advanced = try await till.run(arguments: ["store", "time", "--advance", "31d"] + Self.catalog)
                #expect(advanced.status == 0)
                service = try await ServeProcess(till, Self.arguments)
            }
            await expectEventually { types(receiver, of: "alice").count > renewals }
            #expect(types(receiver, of: "alice") == Self.types(renewals: renewals))
        }
        #expect(await service.end(SIGTERM) == 0)
    }
}
