import AppStore
import Foundation
import HTTPSupport
import PlayStore
import Service
import TestSupport
import Testing

/// `till buy --store play_store`: an app that buys at the local Google Play.
@Suite struct PlayDeviceTests {
    private struct Purchases: Decodable {
        let purchases: [PlayPurchaseResource]
    }

    private static let sprout1 = "com.memolease.sesac1.sprout1"

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private func owned() async throws -> [String] {
        try await till.run("owned", "alice", "--json").decoded(List<OwnedItemResource>.self).elements.map(
            \.item.description)
    }

    private func purchases() async throws -> [PlayPurchaseResource] {
        try await till.run("play", "purchases", "--json").decoded(Purchases.self).purchases
    }

    @Test(arguments: ["purchase", "token"])
    func `a purchase ends with an owned item and an acknowledged purchase`(proof: String) async throws {
        let bought = try await till.run(
            "buy", Self.sprout1, "--user", "alice", "--store", "play_store", "--proof", proof)
        #expect(bought.status == 0)
        #expect(bought.error == "")
        let lines = bought.output.split(separator: "\n")
        let steps = lines.compactMap { $0.split(separator: " ").first }
        #expect(steps.prefix(5) == ["purchasing", "purchased", "proof", "redeemed", "finished"])
        #expect(lines[1].contains("KRW 1,200"), "\(lines[1])")
        #expect(try await owned() == ["background 0", "sprout 0", "sprout 1"])
        let purchase = try #require(try await purchases().first)
        #expect(purchase.isAcknowledged && !purchase.isConsumed && purchase.account == "alice")
        // The local App Store has no part of it.
        #expect(!FileManager.default.fileExists(atPath: till.folder.file("data/store/store.sqlite").path))
    }

    /// The app is killed after each step. No purchase is lost or granted twice.
    @Test(arguments: ["paymentAdded", "purchased", "proofObtained", "redeemed", "finished"])
    func `a kill after any step loses no purchase`(step: String) async throws {
        let killed = try await till.run(
            "buy", Self.sprout1, "--user", "alice", "--store", "play_store", "--kill-after", step)
        #expect(killed.signal == SIGKILL)
        #expect(try await purchases().map(\.isAcknowledged) == [step == "finished"])
        let resumed = try await till.run("resume", "--user", "alice", "--store", "play_store")
        #expect(resumed.status == 0, "\(resumed.error)")
        #expect(try await owned() == ["background 0", "sprout 0", "sprout 1"])
        #expect(try await purchases().map(\.isAcknowledged) == [true])
        let restored = try await till.run("restore", "--user", "alice", "--store", "play_store")
        #expect(restored.output.contains("redeemed    #1  unchanged"), "\(restored.output)")
    }

    @Test func `a pending payment grants its item when it is made`() async throws {
        let bought = try await till.run(
            "buy", Self.sprout1, "--user", "alice", "--store", "play_store", "--outcome", "deferred")
        #expect(bought.status == 0)
        #expect(bought.output.contains("It waits for the payment: till play complete 1, or till play cancel 1"))
        let waiting = try await till.run("resume", "--user", "alice", "--store", "play_store")
        #expect(waiting.output.contains("#1 waits for the payment: till play complete 1"), "\(waiting.output)")
        #expect(try await owned() == ["background 0", "sprout 0"])
        #expect(try await till.run("play", "complete", "1").status == 0)
        #expect(try await till.run("resume", "--user", "alice", "--store", "play_store").status == 0)
        #expect(try await owned() == ["background 0", "sprout 0", "sprout 1"])
        #expect(try await purchases().map(\.isAcknowledged) == [true])
    }

    @Test func `a consumable is consumed, and sold again`() async throws {
        let garden = try TestGarden()
        let catalog = ["--catalog", garden.folder.folder("catalog").path]
        for amount in [10, 20] {
            let bought = try await till.run(
                arguments: ["buy", "garden.seeds", "--user", "alice", "--store", "play_store"] + catalog)
            #expect(bought.output.contains("\(amount) of the balance seeds"), "\(bought.output)\(bought.error)")
        }
        #expect(try await purchases().allSatisfy(\.isConsumed))
    }

    @Test(arguments: ["purchase", "token"])
    func `a subscription is owned while it is paid for`(proof: String) async throws {
        let garden = try TestGarden()
        let catalog = ["--catalog", garden.folder.folder("catalog").path]
        let bought = try await till.run(
            arguments: [
                "buy", "garden.basic.monthly", "--user", "alice", "--store", "play_store", "--proof", proof,
            ] + catalog)
        let steps = bought.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(
            steps.prefix(5) == ["purchasing", "purchased", "proof", "redeemed", "finished"],
            "\(bought.output)\(bought.error)")
        #expect(bought.output.contains("plus 1"))
        struct Subscriptions: Decodable {
            let subscriptions: [PlaySubscriptionResource]
        }
        let sold = try await till.run("play", "subscriptions", "--json").decoded(Subscriptions.self).subscriptions
        #expect(sold.map(\.isAcknowledged) == [true])
    }

    @Test func `a user who buys at both stores owns the union`() async throws {
        #expect(try await till.run("buy", Self.sprout1, "--user", "alice").status == 0)
        let played = try await till.run(
            "buy", "com.memolease.sesac1.background2", "--user", "alice", "--store", "play_store", "--json")
        #expect(played.status == 0, "\(played.error)")
        #expect(try await owned() == ["background 0", "background 2", "sprout 0", "sprout 1"])
        // What is unfinished at one store is none of the other's.
        let resumed = try await till.run("resume", "--user", "alice")
        #expect(resumed.output.contains("Nothing was unfinished."))
    }

    @Test func `a second purchase of what the account owns is refused`() async throws {
        #expect(try await till.run("buy", Self.sprout1, "--user", "alice", "--store", "play_store").status == 0)
        let again = try await till.run("buy", Self.sprout1, "--user", "alice", "--store", "play_store")
        #expect(again.status == 1)
        #expect(again.error.contains("owns \"\(Self.sprout1)\" already"), "\(again.error)")
        #expect(try await purchases().count == 1)
    }

    @Test(arguments: [
        ["--store", "play_store", "--proof", "receipt"], ["--proof", "purchase"],
        ["--store", "play_store", "--outcome", "cancelled"],
        ["--store", "play_store", "--billing-plan", "monthly"], ["--store", "amazon"],
    ])
    func `wrong usage ends with status 64`(options: [String]) async throws {
        let refused = try await till.run(arguments: ["buy", Self.sprout1, "--user", "alice"] + options)
        #expect(refused.status == 64)
        #expect(refused.error.contains("--store") || refused.error.contains("--proof"), "\(refused.error)")
    }
}
