import Commerce
import Foundation
import TestSupport
import Testing
import Wire

/// `till store`: the local App Store on the command line.
@Suite struct StoreCommandTests {
    /// The output of `till store notifications --json`.
    private struct Notifications: Decodable {
        struct Notification: Decodable {
            let notificationType: String
        }

        let notifications: [Notification]
    }

    /// A data directory whose store sells what the garden does.
    private func garden() async throws -> TillProcess {
        let till = try TillProcess()
        let store = try await ServeProcess(
            till,
            [
                "--products", TestGarden.file.path, "--bundle-id", TestGarden.bundleIdentifier, "--notifications-url",
                "http://127.0.0.1:1/apple",
            ], command: "store")
        #expect(await store.end(SIGTERM) == 0)
        return till
    }

    @Test func aSubscriptionIsBoughtRenewsAndIsRefunded() async throws {
        let till = try await garden()
        let bought = try await till.run("store", "buy", "garden.premium.monthly", "--account", "alice", "--json")
            .decoded(QueuedTransaction.self)
        #expect(bought.state == "purchased")
        let identifier = try #require(bought.transactionId)
        let before = try await till.run("store", "time").output
        let after = try await till.run("store", "time", "--advance", "1mo")
        #expect(after.status == 0)
        #expect(after.output > before)
        let sales = try await till.run("store", "sales", "alice", "--json").decoded(SaleList.self)
        #expect(sales.transactions.count == 2)
        for (event, status) in [("cancel", 0), ("resume", 0), ("consent", 1)] {
            let result = try await till.run("store", "subscription", event, identifier)
            #expect(result.status == status, "\(event): \(result.error)")
        }
        #expect(try await till.run("store", "refund", identifier).status == 0)
        let again = try await till.run("store", "refund", identifier)
        #expect(again.status == 1)
        #expect(again.error.contains("was taken back already"))
        let sent = try await till.run("store", "notifications", "--json").decoded(Notifications.self)
        #expect(
            sent.notifications.map(\.notificationType) == [
                "SUBSCRIBED", "DID_RENEW", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_STATUS", "REFUND",
            ])
        // Another app cannot have the same directory.
        let other = try await till.run(
            "store", "--port", "0", "--products", TestGarden.file.path, "--bundle-id", "com.example.other")
        #expect(other.status == 1)
        #expect(other.error.contains("has a store of com.example.garden"))
    }

    @Test func settingsArePrintedAndChanged() async throws {
        let till = try await garden()
        let changed = try await till.run("store", "settings", "--ask-to-buy", "on", "--time-rate", "oneSecondIsOneDay")
        #expect(changed.output.contains("ask-to-buy              on\n"))
        #expect(changed.output.contains("time-rate               oneSecondIsOneDay\n"))
        let deferred = try await till.run("store", "buy", "garden.seeds", "--account", "bob", "--json")
        #expect(try deferred.decoded(QueuedTransaction.self).state == "deferred")
        let wrong = try await till.run("store", "settings", "--storefront", "Utopia")
        #expect(wrong.status == 1)
        #expect(wrong.error.contains("There is no storefront"))
    }

    @Test func aKeyIsMadeAndNotMadeTwice() async throws {
        let till = try await garden()
        let made = try await till.run("store", "keys", "--out", "key.p8", "--json").decoded(MadeStoreKey.self)
        #expect(made.keyId.count == 10)
        let pem = try String(contentsOf: till.folder.file("key.p8"), encoding: .utf8)
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        let again = try await till.run("store", "keys", "--out", "key.p8")
        #expect(again.status == 1)
        #expect(try String(contentsOf: till.folder.file("key.p8"), encoding: .utf8) == pem)
    }

    @Test func aStoreBesideTheServiceIsTrustedAndTellsOfItsSales() async throws {
        let till = try TillProcess()
        let service = try await ServeProcess(till, ["--store", "--log-level", "notice"])
        let key = try await till.run("keys", "make", "shop").output.trimmingCharacters(in: .whitespacesAndNewlines)
        let token = try await service.curl("/v1/users/alice", key: key).decoded(AppAccountTokenResource.self)
            .appAccountToken
        let product = "com.memolease.sesac1.sprout1"
        #expect(
            try await till.run("store", "buy", product, "--account", "a", "--app-account-token", token).status == 0)
        try await expectEventually {
            try await service.curl("/v1/users/alice/items", key: key).decoded(OwnedItemList.self).items
                .contains { $0.item == Item(collection: "sprout", number: 1) }
        }
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func aStoreDoesNotRunWhereApplesProofsAreAccepted() async throws {
        let till = try TillProcess(hasKeys: false)
        let refused = try await till.run("serve", "--port", "0", "--store", "--accept", "apple/Production")
        #expect(refused.status == 1)
        #expect(refused.error.contains("does not run beside a service that accepts apple/Production"))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }

    @Test(arguments: [
        ["store", "--products", "x.storekit"], ["store", "--bundle-id", "a"], ["store", "--environment", "Xcode"],
        ["store", "--port", "70000"], ["store", "time", "--advance", "1 month"], ["store", "refund"],
        ["store", "subscription", "raise-price", "1"], ["store", "subscription", "renew", "1", "--price", "5"],
        ["store", "notifications", "--fault", "loud"], ["store", "settings", "--time-rate", "fast"],
        ["store", "buy", "x"], ["store", "buy", "x", "--account", "a", "--app-account-token", "b"],
    ])
    func wrongUsageEndsWith64(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        #expect(try await till.run(arguments: arguments).status == 64)
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }

    @Test(arguments: [
        ["time"], ["sales", "alice"], ["refund", "1"], ["settings"], ["notifications"], ["resolve", "1"],
    ])
    func whatWasNeverMadeIsNotMade(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run(arguments: ["store"] + arguments)
        #expect(result.status == 1)
        #expect(result.error.contains("has no store. Name the data directory with --data"))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }
}
