import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// `till store`: the local App Store on the command line.
@Suite struct StoreCommandTests {
    /// The output of `till store notifications --json`.
    private struct Notifications: Decodable {
        let notifications: [NotificationResource]
        let replayed: String?
        let faults: [String]?
    }

    /// The output of `till store buy --json`.
    private struct Payment: Decodable {
        let effect: String?
        let price: Int64?
        let nextProductId: String?
        let renewalDate: String?
    }

    /// The output of `till store settings --json`.
    private struct Settings: Decodable {
        let isAskToBuyEnabled: Bool
        let notificationsURL: URL?
        let timeRate: String
    }

    /// The output of `till store reset --json`.
    private struct Reset: Decodable {
        let cleared: ResetResult
    }

    /// A data directory with a store that sells the garden's products.
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

    @Test func `each setting of the console's form has an option, and a wrong value is refused`() async throws {
        let till = try await garden()
        let options = [
            "locale": "ko_KR", "failure-error": "paymentCancelled", "shared-secret": "pear", "receipt-status": "21005",
            "requests-per-minute": "5", "server-api-error": "4040002",
        ]
        let changed = try await till.run(
            arguments: ["store", "settings"] + options.flatMap { ["--\($0.key)", $0.value] })
        #expect(changed.status == 0, "\(changed.error)")
        for (option, value) in options {
            #expect(changed.output.contains(option.padding(toLength: 24, withPad: " ", startingAt: 0) + value + "\n"))
        }
        let help = try await till.run("store", "settings", "--help").output
        for setting in StoreSetting.all { #expect(help.contains("--\(setting.option) "), "\(setting.option)") }
        let ended = try await till.run("store", "settings", "--failure-error", "", "--requests-per-minute", "")
        #expect(ended.output.contains(/\nfailure-error +-\n/) && ended.output.contains(/\nrequests-per-minute +-\n/))
        for (option, value) in [
            ("locale", ""), ("failure-error", "tired"), ("requests-per-minute", "0"), ("server-api-error", "1"),
        ] {
            let wrong = try await till.run("store", "settings", "--\(option)", value)
            #expect(wrong.status == 64)
            #expect(wrong.error.contains("--\(option) "), "\(wrong.error)")
        }
    }

    @Test func `a sale is deleted`() async throws {
        let till = try await garden()
        let bought = try await till.run("store", "buy", "garden.gate", "--account", "alice", "--json")
            .decoded(QueuedTransaction.self)
        let gate = try #require(bought.transactionId)
        #expect(try await till.run("store", "delete", gate).output == "\(gate)  deleted\n")
        #expect(try await till.run("store", "sales", "alice").output == "No sales to account \"alice\".\n")
        #expect(try await till.run("store", "delete", gate).status == 1)
    }

    @Test func `one renewal fails, with a grace period or without`() async throws {
        let till = try await garden()
        for account in ["alice", "bob"] {
            let bought = try await till.run("store", "buy", "garden.premium.monthly", "--account", account, "--json")
                .decoded(QueuedTransaction.self)
            let transaction = try #require(bought.transactionId)
            let grace = account == "alice" ? ["--grace-period"] : []
            let failed = try await till.run(arguments: ["store", "subscription", "fail", transaction] + grace)
            #expect(failed.status == 0, "\(failed.error)")
            #expect(try await till.run("store", "subscription", "resolve-billing", transaction).status == 0)
        }
        #expect(try await till.run("store", "subscription", "renew", "1", "--grace-period").status == 64)
    }

    @Test func `a free trial is called so, and its first payment has a price`() async throws {
        let till = try await garden()
        let bought = try await till.run("store", "buy", "garden.basic.monthly", "--account", "alice")
        #expect(bought.output.hasPrefix("purchased  #1  garden.basic.monthly  free trial  "), "\(bought)")
        #expect(try await till.run("store", "time", "--advance", "1mo").status == 0)
        let sales = try await till.run("store", "sales", "alice").output.split(separator: "\n").dropFirst()
        #expect(sales.count == 2)
        #expect(sales.first?.contains("  free trial  ") == true && sales.last?.contains("  USD 4.99  ") == true)
    }

    @Test func `customers share in a family until they leave it`() async throws {
        let till = try await garden()
        let bought = try await till.run("store", "buy", "garden.gate", "--account", "alice", "--json")
            .decoded(QueuedTransaction.self)
        #expect(try await till.run("store", "family", "alice").output == "\"alice\" is in no family.\n")
        let joined = try await till.run("store", "family", "alice", "--add", "bob", "--json")
            .decoded(FamilyResource.self)
        #expect(joined.organizer == "alice" && joined.members == ["bob"])
        #expect(try await till.run("store", "sales", "bob").output.contains("family sharing"))
        let shared = try #require(
            try await till.run("store", "sales", "bob", "--json").decoded(List<SaleResource>.self).elements.first)
        for (account, status) in [("alice", 1), ("bob", 0)] as [(String, Int32)] {
            let ended = try await till.run("store", "family", account, "--stop-sharing", shared.transactionId)
            #expect(ended.status == status, "\(ended.error)")
        }
        #expect(try await till.run("store", "sales", "bob").output.contains("taken back"))
        let transaction = try #require(bought.transactionId)
        for status in [0, 1] as [Int32] {
            #expect(try await till.run("store", "family", "bob", "--share", transaction).status == status)
        }
        #expect(try await till.run("store", "family", "bob", "--add", "carol", "--leave").status != 0)
        #expect(try await till.run("store", "family", "bob", "--leave").status == 0)
        #expect(try await till.run("store", "family", "alice").output == "\"alice\" is in no family.\n")
    }

    @Test func `a subscription is bought, renewed and refunded`() async throws {
        let till = try await garden()
        let bought = try await till.run("store", "buy", "garden.premium.monthly", "--account", "alice", "--json")
            .decoded(QueuedTransaction.self)
        #expect(bought.state == "purchased")
        let identifier = try #require(bought.transactionId)
        let before = try await till.run("store", "time").output
        let after = try await till.run("store", "time", "--advance", "1mo")
        #expect(after.status == 0)
        #expect(after.output > before)
        let sales = try await till.run("store", "sales", "alice", "--json").decoded(List<SaleResource>.self)
        #expect(sales.elements.count == 2)
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

    @Test func `a member joins by Apple's invitation, and leaves`() async throws {
        let till = try await garden()
        let bought = try await till.run(
            "store", "buy", "garden.premium.monthly", "--account", "alice", "--quantity", "2", "--json"
        ).decoded(QueuedTransaction.self)
        let identifier = try #require(bought.transactionId)
        let joined = try await till.run("store", "subscription", "join", identifier, "--account", "bob", "--json")
            .decoded(SaleResource.self)
        #expect(joined.account == "bob" && joined.quantity == 2 && joined.transactionId != identifier)
        let sales = try await till.run("store", "sales", "bob")
        #expect(sales.output.contains(joined.transactionId) && sales.output.contains("  seat"))
        let left = try await till.run("store", "subscription", "leave", joined.transactionId)
        #expect(left.status == 0 && left.output.hasPrefix(joined.transactionId))
        #expect(try await till.run("store", "sales", "bob").output.contains("taken back"))
        let again = try await till.run("store", "subscription", "leave", identifier)
        #expect(again.status == 1 && again.error.contains("is no seat that a member has now"))
    }

    @Test func `a changed setting is printed and takes effect`() async throws {
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

    @Test func `buying an active subscription shows its effect, and no price`() async throws {
        let till = try await garden()
        func buy(_ product: String, _ more: String...) async throws -> TillProcess.Result {
            try await till.run(arguments: ["store", "buy", product, "--account", "alice"] + more)
        }
        let first = try await buy("garden.premium.monthly", "--json").decoded(Payment.self)
        #expect(first.effect == "charged")
        let price = try #require(first.price)
        #expect(price > 0)
        let again = try await buy("garden.premium.monthly")
        #expect(again.status == 0)
        #expect(again.output.contains("already subscribed until "))
        #expect(!again.output.contains("USD"))
        let change = try await buy("garden.basic.monthly", "--json").decoded(Payment.self)
        #expect((change.effect, change.nextProductId, change.price) == ("changes", "garden.basic.monthly", nil))
        let words = try await buy("garden.basic.monthly").output
        #expect(words.contains("changes to garden.basic.monthly on \(try #require(change.renewalDate))"))
        #expect(!words.contains("USD"))
        // The store charged only the first payment.
        let sales = try await till.run("store", "sales", "alice", "--json").decoded(List<SaleResource>.self)
        #expect(sales.elements.map(\.price) == [price])
    }

    @Test func `a commitment is bought with its plan, where Apple sells it`() async throws {
        let till = try await garden()
        let arguments = ["store", "buy", "garden.basic.yearly", "--account", "alice", "--billing-plan", "monthly"]
        let refused = try await till.run(arguments: arguments)
        #expect(refused.status == 1)
        #expect(refused.error.contains("Choose another one with `till store settings --storefront DEU`."))
        try await till.run("store", "settings", "--storefront", "DEU")
        let bought = try await till.run(arguments: arguments)
        #expect(bought.status == 0 && bought.output.contains("EUR 4.99"), "\(bought.error)")
        let change = try await till.run("store", "buy", "garden.basic.yearly", "--account", "alice")
        #expect(change.output.contains("changes to garden.basic.yearly on "))
    }

    @Test func `an interrupted purchase names the command that completes it`() async throws {
        let till = try await garden()
        try await till.run("store", "settings", "--interrupted-purchases", "on")
        let bought = try await till.run("store", "buy", "garden.gate", "--account", "alice")
        #expect(bought.status == 1)
        #expect(bought.error.contains("was interrupted, and nothing was charged"))
        #expect(try await till.run("store", "queue").output.contains("failed (interrupted)"))
        let command = try #require(bought.error.firstMatch(of: /till (store resolve \d+)/)).1
        let resolved = try await till.run(arguments: command.split(separator: " ").map(String.init))
        #expect(resolved.status == 0)
        #expect(resolved.output.hasPrefix("purchased"))
        // A payment that fails finally names no such command.
        let failed = try await till.run("store", "buy", "garden.gate", "--account", "alice", "--outcome", "unknown")
        #expect(failed.status == 1)
        #expect(!failed.error.contains("till store resolve"))
    }

    @Test func `time lists the events that were due`() async throws {
        let till = try await garden()
        try await till.run("store", "buy", "garden.basic.monthly", "--account", "alice")
        let advanced = try await till.run("store", "time", "--advance", "2mo")
        #expect(advanced.output.matches(of: /renewed +garden\.basic\.monthly +alice/).count == 2)
        let sales = try await till.run("store", "sales", "alice", "--json").decoded(List<SaleResource>.self).elements
        try await till.run("store", "subscription", "cancel", try #require(sales.last).transactionId)
        let report = try await till.run("store", "time", "--advance", "2mo", "--json").decoded(TimeResource.self)
        #expect(report.events?.map(\.kind) == ["expired"])
        #expect(report.events?.map(\.account) == ["alice"])
        #expect(Timestamp(millisecondsSince1970: report.millisecondsSince1970).rfc3339 == report.now)
        #expect(try await till.run("store", "time", "--advance", "99y").error.contains("at most 3660 days long"))
        let invalid = try await till.run("store", "time", "--advance", "100000s")
        #expect(invalid.status == 64 && invalid.error.contains("a number from 1 to 99999"))
        #expect(try await till.run("store", "time", "--advance", "1s").output.contains("Nothing was due."))
    }

    @Test func `an account has its own time, until a reset`() async throws {
        let till = try await garden()
        for account in ["alice", "bob"] {
            try await till.run("store", "buy", "garden.basic.monthly", "--account", account)
        }
        let advanced = try await till.run("store", "time", "--account", "alice", "--advance", "2mo")
        #expect(advanced.output.matches(of: /renewed +garden\.basic\.monthly +alice/).count == 2)
        #expect(!advanced.output.contains("bob"))
        #expect(try await till.run("store", "time").output.contains(/alice +2\d{3}-/))
        let times = try await till.run("store", "time", "--json").decoded(TimeResource.self)
        let alice = try await till.run("store", "time", "--account", "alice", "--json").decoded(TimeResource.self)
        let bob = try await till.run("store", "time", "--account", "bob", "--json").decoded(TimeResource.self)
        #expect(times.accounts?.map(\.account) == ["alice"])
        #expect(alice.now > times.now && bob.now.prefix(10) == times.now.prefix(10))
        let unknown = try await till.run("store", "time", "--account", "carol", "--advance", "1d", "--json")
        #expect((unknown.status, unknown.code) == (1, "accountUnknown"))
        #expect(try await till.run("store", "reset").output.contains("the clock"))
        #expect(try await till.run("store", "time", "--json").decoded(TimeResource.self).accounts?.isEmpty == true)
    }

    @Test func `a replay and a fault are confirmed, and the JSON has what the table shows`() async throws {
        let till = try await garden()
        try await till.run("store", "buy", "garden.gate", "--account", "alice")
        let list = try await till.run("store", "notifications", "--json").decoded(Notifications.self)
        let sent = try #require(list.notifications.first)
        #expect(sent.transactionId != nil)
        let table = try await till.run("store", "notifications").output
        for cell in [sent.notificationUUID, sent.date, sent.notificationType, try #require(sent.transactionId)] {
            #expect(table.contains(cell))
        }
        let replayed = try await till.run("store", "notifications", "--replay", sent.notificationUUID)
        #expect(replayed.output.hasPrefix("Notification \(sent.notificationUUID) is queued to be sent again.\n"))
        let faults = try await till.run(
            "store", "notifications", "--fault", "duplicate", "--fault", "delay:30", "--json")
        #expect(try faults.decoded(Notifications.self).faults == ["duplicate", "delay:30"])
        let words = try await till.run("store", "notifications", "--fault", "drop").output
        #expect(words.hasPrefix("The faults of the next notifications: drop.\n"))
        let cleared = try await till.run("store", "notifications", "--clear-faults").output
        #expect(cleared.hasPrefix("The next notifications have no faults of before.\n"))
    }

    @Test func `a notification on demand is queued, and another one is refused`() async throws {
        let till = try await garden()
        let sent = try await till.run("store", "notify", "RESCIND_CONSENT", "--account", "alice", "--json")
            .decoded(NotificationResource.self)
        #expect((sent.notificationType, sent.subtype) == ("RESCIND_CONSENT", nil))
        let words = try await till.run("store", "notify", "EXTERNAL_PURCHASE_TOKEN", "--subtype", "CREATED").output
        #expect(words.hasSuffix(" is queued: EXTERNAL_PURCHASE_TOKEN CREATED.\n"))
        let list = try await till.run("store", "notifications", "--json").decoded(Notifications.self)
        #expect(list.notifications.map(\.notificationType) == ["RESCIND_CONSENT", "EXTERNAL_PURCHASE_TOKEN"])
        let refused = try await till.run("store", "notify", "PRICE_CHANGE")
        #expect(refused.status == 1 && refused.error.contains("PRICE_CHANGE is about a subscription."))
    }

    @Test func `tokens of purchases outside the store are made and listed`() async throws {
        struct Tokens: Decodable {
            struct Token: Decodable {
                let externalPurchaseId: String
                let tokenType: String?
                let status: String?
            }

            let externalPurchaseTokens: [Token]
        }
        let till = try await garden()
        let empty = try await till.run("store", "external-tokens").output
        #expect(empty.contains("till store external-tokens --make"))
        let made = try await till.run("store", "external-tokens", "--make", "--json").decoded(Tokens.Token.self)
        #expect(made.externalPurchaseId.hasPrefix("SANDBOX_") && made.tokenType == nil)
        _ = try await till.run("store", "external-tokens", "--make", "--token-type", "SERVICES")
        let listed = try await till.run("store", "external-tokens", "--json").decoded(Tokens.self)
        #expect(listed.externalPurchaseTokens.map(\.tokenType) == [nil, "SERVICES"])
        let japan = try await till.run("store", "external-tokens", "--make", "--token-type", "LINK_OUT", "--json")
        #expect(try japan.decoded(Tokens.Token.self).tokenType == "LINK_OUT")
        #expect(listed.externalPurchaseTokens.allSatisfy { $0.status == nil })
        let refused = try await till.run("store", "external-tokens", "--token-type", "SERVICES")
        #expect(refused.status == 64)
    }

    @Test func `a request that no key has signed is judged, and ends with status 1`() async throws {
        let till = try await garden()
        let refused = try await till.run("store", "judge", "a.b.c", "--json")
        #expect(refused.status == 1 && refused.error.contains("StoreKit would not accept it. It is not a signed JWT"))
        #expect(try !refused.decoded(SignedRequestVerdict.self).isAccepted)
    }

    @Test func `a reset clears the sales, the clock and the settings, and says so`() async throws {
        let till = try await garden()
        try await till.run("store", "buy", "garden.basic.monthly", "--account", "alice")
        try await till.run("store", "time", "--advance", "1y")
        try await till.run("store", "settings", "--ask-to-buy", "on")
        let key = try await till.run("store", "keys", "--json").decoded(MadeStoreKey.self)
        let reset = try await till.run("store", "reset")
        #expect(reset.status == 0)
        #expect(
            reset.output
                == "Cleared 13 sales, 13 notifications, the clock and the settings. The keys and the products stay.\n")
        #expect(
            try await till.run("store", "sales", "alice", "--json").decoded(List<SaleResource>.self).elements.isEmpty)
        let settings = try await till.run("store", "settings", "--json").decoded(Settings.self)
        #expect(!settings.isAskToBuyEnabled)
        #expect(settings.notificationsURL?.path == "/apple")
        #expect(settings.timeRate == "realTime")
        #expect(FileManager.default.fileExists(atPath: key.privateKey))
        #expect(try await till.run("store", "products").output.contains("garden.basic.monthly"))
        try await till.run("store", "settings", "--ask-to-buy", "on")
        try await till.run("store", "buy", "garden.basic.monthly", "--account", "alice")
        let transactions = try await till.run("store", "reset", "--transactions")
        #expect(transactions.output.hasPrefix("Cleared the transactions and their notifications."))
        #expect(try await till.run("store", "queue").output == "No payments.\n")
        #expect(try await till.run("store", "settings", "--json").decoded(Settings.self).isAskToBuyEnabled)
        try await till.run("store", "settings", "--ask-to-buy", "off")
        let second = try await till.run("store", "reset").output
        #expect(second.hasPrefix("Cleared 0 sales and 0 notifications. "))
        let again = try await till.run("store", "reset", "--json").decoded(Reset.self).cleared
        #expect((again.sales, again.notifications, again.clock, again.settings) == (0, 0, false, false))
    }

    @Test(arguments: ["", "a\u{7}b", "a\nb", String(repeating: "é", count: 129)])
    func `an account without a usable name is refused`(account: String) async throws {
        let till = try await garden()
        let bought = try await till.run("store", "buy", "garden.gate", "--account", account, "--json")
        #expect(bought.status == 1)
        #expect(bought.code == "accountInvalid")
        #expect(bought.error.split(separator: "\n").count == 1)
    }

    @Test func `a long account is shortened in the table alone`() async throws {
        let till = try await garden()
        let account = String(repeating: "a", count: 256)
        #expect(try await till.run("store", "buy", "garden.gate", "--account", account).status == 0)
        let table = try await till.run("store", "queue").output
        #expect(table.contains("  \(account.prefix(31))…  "))
        #expect(!table.contains(account.prefix(32)))
        #expect(try await till.run("store", "queue", "--json").output.contains("\"\(account)\""))
    }

    @Test func `a fixed sandbox key opens the store, and is never printed`() async throws {
        let till = try await garden()
        let key = "a-key-of-the-pipeline"
        for arguments in [["--sandbox-key", key], []] {
            let store = try await ServeProcess(
                till, arguments + ["--log-level", "trace"], command: "store",
                environment: arguments.isEmpty ? ["TILL_SANDBOX_KEY": key] : [:])
            #expect(try await store.curl("/sandbox/v1/time", key: key).status == 200)
            #expect(try await store.curl("/sandbox/v1/time", key: "another-key-of-them").status == 401)
            #expect(await store.end(SIGTERM) == 0)
            #expect(try !store.log.contains(key))
        }
    }

    @Test(arguments: ["short", "a key with spaces in it", String(repeating: "k", count: 257)])
    func `a sandbox key that is too short, too long or has spaces is refused`(key: String) async throws {
        let till = try TillProcess(hasKeys: false)
        for (command, option) in [(["store"], []), (["serve", "--store"], []), (["store"], ["--sandbox-key", key])] {
            let refused = try await till.run(
                arguments: command + ["--port", "0"] + option,
                environment: option.isEmpty ? ["TILL_SANDBOX_KEY": key] : [:])
            #expect(refused.status == 64)
            #expect(refused.error.contains("must have 16 to 256 characters"))
            #expect(!refused.error.contains(key))
        }
        #expect(
            try await till.run("serve", "--port", "0", "--sandbox-key", String(repeating: "k", count: 16)).status == 64)
    }

    @Test func `a notification that cannot be delivered is logged without its address`() async throws {
        let till = try await garden()
        try await till.run(
            "store", "settings", "--notifications-url", "http://127.0.0.1:1/secret-path?token=secret")
        let store = try await ServeProcess(till, command: "store")
        try await till.run("store", "buy", "garden.gate", "--account", "alice")
        try await expectEventually { try store.log.contains("notification not delivered") }
        #expect(await store.end(SIGTERM) == 0)
        let log = try store.log
        #expect(log.contains("code=") && log.contains("host=127.0.0.1"))
        #expect(log.contains("warning"))
        #expect(!log.contains("secret"))
    }

    @Test func `a key is created, and its file is not overwritten`() async throws {
        let till = try await garden()
        let made = try await till.run("store", "keys", "--out", "key.p8", "--json").decoded(MadeStoreKey.self)
        #expect(made.keyId.count == 10)
        let pem = try String(contentsOf: till.folder.file("key.p8"), encoding: .utf8)
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        let again = try await till.run("store", "keys", "--out", "key.p8")
        #expect(again.status == 1)
        #expect(try String(contentsOf: till.folder.file("key.p8"), encoding: .utf8) == pem)
    }

    @Test func `a store beside the service is trusted, and sends its notifications`() async throws {
        let till = try TillProcess()
        let service = try await ServeProcess(till, ["--store", "--log-level", "notice"])
        let key = try await till.run("keys", "make", "shop").output.trimmingCharacters(in: .whitespacesAndNewlines)
        let token = try await service.accountToken(of: "alice", key: key)
        let product = "com.memolease.sesac1.sprout1"
        #expect(
            try await till.run("store", "buy", product, "--account", "a", "--app-account-token", token).status == 0)
        try await expectEventually {
            try await service.curl("/v1/users/alice/items", key: key).decoded(List<OwnedItemResource>.self).elements
                .contains { $0.item == Item(collection: "sprout", number: 1) }
        }
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a part of the price is refunded`() async throws {
        let till = try await garden()
        let bought = try await till.run("store", "buy", "garden.gate", "--account", "alice", "--json")
            .decoded(QueuedTransaction.self)
        let sold = try #require(bought.transactionId)
        let unknown = try await till.run("store", "refund", sold, "--prorated")
        #expect(unknown.status == 1 && unknown.error.contains("consumptionPercentage"))
        let refunded = try await till.run("store", "refund", sold, "--percentage", "66.66", "--json")
        #expect(try refunded.decoded(SaleResource.self).revocationPercentage == 66_660)
        #expect(try await till.run("store", "refund", sold, "--step", "reverse").status == 0)
    }

    @Test func `a store does not run beside a service that accepts Apple's proofs`() async throws {
        let till = try TillProcess(hasKeys: false)
        let refused = try await till.run("serve", "--port", "0", "--store", "--accept", "apple/Production")
        #expect(refused.status == 1)
        #expect(refused.error.contains("does not run beside a service that accepts apple/Production"))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }

    @Test(arguments: [
        ["store", "--products", "x.storekit"], ["store", "--bundle-id", "a"], ["store", "--environment", "Xcode"],
        ["store", "--port", "70000"], ["store", "--as-apple", "--port", "1"], ["store", "--", "true"],
        ["store", "--as-apple", "--host", "::1"],
        ["store", "time", "--advance", "1 month"], ["store", "refund"],
        ["store", "refund", "1", "--percentage", "0"], ["store", "refund", "1", "--percentage", "100.001"],
        ["store", "refund", "1", "--prorated", "--seats", "2"],
        ["store", "refund", "1", "--prorated", "--step", "reverse"],
        ["store", "subscription", "raise-price", "1"], ["store", "subscription", "seats", "1"],
        ["store", "subscription", "join", "1"], ["store", "subscription", "leave", "1", "--account", "bob"],
        ["store", "subscription", "renew", "1", "--price", "5"],
        ["store", "notifications", "--fault", "loud"], ["store", "settings", "--time-rate", "fast"],
        ["store", "buy", "x"], ["store", "buy", "x", "--account", "a", "--billing-plan", "weekly"],
        ["store", "buy", "x", "--account", "a", "--app-account-token", "b"],
    ])
    func `wrong usage ends with status 64`(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        #expect(try await till.run(arguments: arguments).status == 64)
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }

    @Test(arguments: [
        ["time"], ["sales", "alice"], ["refund", "1"], ["settings"], ["notifications"], ["resolve", "1"], ["reset"],
        ["queue"], ["approve", "1"], ["decline", "1"], ["notify", "MIGRATION", "--transaction", "1"],
        ["retention", "1"], ["judge", "a.b.c"],
    ])
    func `commands on a missing store do not create it`(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run(arguments: ["store"] + arguments)
        #expect(result.status == 1)
        #expect(result.error.contains("has no store. Name the data directory with --data"))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }
}
