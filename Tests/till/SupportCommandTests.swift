import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The commands that do what the pages of customers and of unclaimed purchases do.
@Suite struct SupportCommandTests {
    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `users are found by a part of their name, the newest first, and by their account token`() async throws {
        for user in ["alice", "alina", "bob"] {
            #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", user).status == 0)
        }
        let found = try await till.run("customers", "LI", "--json").decoded(List<KnownUserResource>.self).elements
        #expect(found.map(\.user.name) == ["alina", "alice"])
        let token = try #require(found.first?.appAccountToken)
        let named = try await till.run("customers", token).output
        #expect(named.split(separator: "\n").count == 2 && named.contains("\nalina     -       \(token)  "), "\(named)")
        #expect(try await till.run("customers", "ali", "--limit", "1").output.split(separator: "\n").count == 2)
        #expect(try await till.run("customers", "zoe").output == "No customers found.\n")
        let wrong = try await till.run("customers", "ali", "--limit", "0")
        #expect(wrong.status == 64 && wrong.error.hasPrefix("Error: --limit must be a number from 1 to 1000."))
        #expect(try await till.run("customers").error.hasPrefix("Error: Missing expected argument '<text>'"))
    }

    @Test func `customers are listed with their state and sum, and found by a transaction`() async throws {
        let bought = try await till.run(
            "buy", "com.memolease.sesac1.sprout1", "--user", "bob", "--proof", "transaction", "--json")
        let transaction = String(try #require(bought.output.firstMatch(of: /"transactionId" : "(\d+)"/)).1)
        let more = ["buy", "com.memolease.sesac1.sprout2", "--user", "alice", "--proof", "transaction"]
        #expect(try await till.run(arguments: more).status == 0)
        let sandbox = ["--environment", "sandbox"]
        let listed = try await till.run(arguments: ["customers", "list"] + sandbox).output.split(separator: "\n")
        #expect(listed.first?.hasPrefix("CUSTOMER  STATUS ") == true)
        #expect(listed.dropFirst().map { $0.prefix(5) } == ["alice", "bob  "])
        #expect(listed.last?.contains("  KRW 1,200  ") == true, "\(listed)")
        let newest = try await till.run(arguments: ["customers", "list", "newest", "--limit", "1"] + sandbox).output
        #expect(newest.split(separator: "\n").last?.hasPrefix("alice ") == true, "\(newest)")
        #expect(try await till.run(arguments: ["customers", "list", "notPaid"] + sandbox).output == "No customers.\n")
        let largest = try await till.run(arguments: ["customers", "list", "spent"] + sandbox).output
        #expect(largest.split(separator: "\n").dropFirst().first?.hasPrefix("alice ") == true, "\(largest)")
        let dollars = ["customers", "list", "spent", "--currency", "USD"] + sandbox
        #expect(try await till.run(arguments: dollars).output == "No customers.\n")
        #expect(try await till.run("customers", "list", "lost").status == 64)

        let found = try await till.run("transaction", transaction).output
        #expect(found.hasPrefix("CUSTOMER  PRODUCT ") && found.contains("\nbob "), "\(found)")
        #expect(found.contains(" BOUGHT ") && found.contains(" PRICE ") && found.contains(" STOREFRONT "), "\(found)")
        #expect(try await till.run("transaction", transaction, "--json").json()["purchases"] != nil)
        #expect(try await till.run("transaction", "1", "--json").code == "transactionUnknown")
    }

    @Test func `commands about a user know a user of an issuer`() async throws {
        let named = ["--issuer", "customer"]
        let buy = ["buy", "com.memolease.sesac1.sprout1", "--user", "mint", "--proof", "transaction", "--json"]
        let bought = try await till.run(arguments: buy + named)
        #expect(bought.status == 0, "\(bought.error)")
        let transaction = String(try #require(bought.output.firstMatch(of: /"transactionId" : "(\d+)"/)).1)
        #expect(try await till.run(arguments: ["restore", "--user", "mint"] + named).status == 0)
        let receipt = till.folder.file("mint.receipt").path
        #expect(try await till.run("receipt", "export", "--user", "mint", "--out", receipt).status == 0)
        let again = try await till.run(arguments: ["receipt", "redeem", receipt, "--user", "mint"] + named)
        #expect(again.output.hasPrefix("Nothing changed: it was redeemed before."), "\(again)")
        for (arguments, part) in [
            (["owned", "mint"], "Sturdy Sprout"), (["why", "mint", "sprout", "1"], "mint has sprout 1."),
            (["story", "mint"], "sprout1"), (["audit", "mint"], "sprout1"),
            (["attributes", "set", "mint", "level", "9"], "Set level of mint."),
            (["attributes", "list", "mint"], "level"), (["attributes", "remove", "mint", "level"], "Removed level"),
            (["give", "mint", "sprout", "3", "--reason", "Sorry"], "mint has sprout 3 now."),
            (["grants", "list", "mint"], "sprout 3"),
            (["revoke", "mint", transaction, "--reason", "Chargeback"], "Revoked"),
            (["reinstate", "mint", transaction, "--reason", "Settled"], "Reinstated"),
            (["export-user", "mint"], transaction),
        ] {
            // The user of the back end of the same name is another one.
            let other = try await till.run(arguments: arguments.map { $0 == "9" ? "8" : $0 })
            #expect(!other.output.contains(transaction), "\(arguments)")
            let result = try await till.run(arguments: arguments + named)
            #expect(result.status == 0, "\(arguments): \(result.error)")
            #expect(result.output.contains(part), "\(arguments): \(result.output)")
        }
        // A command without a row above also prints what this user alone has.
        #expect(try await till.run(arguments: ["attributes", "set", "mint", "level", "9"] + named).status == 0)
        for command in try await HelpCommand.aboutUsers(of: till) where command != ["erase-user"] {
            let other = try await till.run(arguments: command + ["mint"])
            let result = try await till.run(arguments: command + ["mint"] + named)
            #expect(result.status == 0, "\(command): \(result.error)")
            #expect(result.output != other.output, "\(command): \(result.output)")
        }
        let erased = try await till.run(arguments: ["erase-user", "mint", "--confirm", "mint"] + named)
        #expect(erased.status == 0 && erased.output.contains("Erased mint."), "\(erased)")
    }

    @Test func `a revoked purchase is reinstated`() async throws {
        let bought = try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--json")
        let transaction = String(try #require(bought.output.firstMatch(of: /"transactionId" : "(\d+)"/)).1)
        let why = ["why", "alice", "sprout", "1"]
        #expect(try await till.run("revoke", "alice", transaction, "--reason", "Chargeback").status == 0)
        #expect(try await till.run(arguments: why).output.hasPrefix("alice does not have sprout 1."))
        let reinstated = try await till.run("reinstate", "alice", transaction, "--reason", "Settled")
        #expect(reinstated.output == "Reinstated com.memolease.sesac1.sprout1 of alice.\n", "\(reinstated.error)")
        #expect(try await till.run(arguments: why).output.hasPrefix("alice has sprout 1."))
        #expect(try await till.run("story", "alice").output.contains("Settled"))
        let other = try await till.run("reinstate", "bob", transaction, "--reason", "Settled", "--json")
        #expect(other.code == "transactionNotFound")
    }

    @Test func `a balance is added to without a purchase`() async throws {
        let garden = try TestGarden()
        let catalog = ["--catalog", garden.folder.folder("catalog").path]
        #expect(try await till.run(arguments: ["resume", "--user", "alice"] + catalog).status == 0)
        let add = ["add", "alice", "seeds", "100", "--reason", "Sorry"]
        let added = try await till.run(arguments: add + catalog)
        #expect(added.output == "Added 100 to the balance seeds of alice.\n", "\(added.error)")
        #expect(
            try await till.run(arguments: ["owned", "alice"] + catalog).output.hasSuffix(
                "\n  100 of the balance seeds\n"))
        let unknown = try await till.run(arguments: ["add", "alice", "coins", "1", "--reason", "Sorry"] + catalog)
        #expect(unknown.status == 1)
    }

    @Test func `a purchase that nobody has redeemed is listed, and assigned`() async throws {
        let server = try await ServeProcess(till, ["--store"])
        #expect(
            try await till.run("store", "buy", "com.memolease.sesac1.sprout2", "--account", "carol").status == 0)
        try await expectEventually { try await till.run("unclaimed").output.contains("sprout2") }
        let listed = try await till.run("unclaimed", "--json").decoded(List<UnclaimedPurchaseResource>.self)
        let transaction = try #require(listed.elements.first?.transactionId)
        #expect(listed.elements.map(\.productId) == ["com.memolease.sesac1.sprout2"])
        let today = String(try #require(listed.elements.first?.statedAt.prefix(10)))
        for (filter, isFound) in [
            (["--product", "com.memolease.sesac1.sprout2"], true),
            (["--product", "com.memolease.sesac1.sprout1"], false),
            (["--day", today], true), (["--day", "2020-01-31"], false),
        ] {
            let filtered = try await till.run(arguments: ["unclaimed"] + filter)
            #expect(filtered.output.contains(transaction) == isFound, "\(filter): \(filtered.error)")
        }
        #expect(try await till.run("unclaimed", "--day", "31.1.2026", "--json").code == "usageInvalid")
        #expect(try await till.run("unclaimed", "--day", today, "--search", "1", "--json").code == "parameterInvalid")
        let looked = try await till.run("transaction", transaction).output
        #expect(looked.contains("  unclaimed  ") && looked.contains("`till unclaimed assign`"), "\(looked)")
        let searched = try await till.run("unclaimed", "--search", "1")
        #expect(searched.output == "No unclaimed purchases.\n", "\(searched.error)")
        let assigned = try await till.run(
            "unclaimed", "assign", transaction, "mint", "--issuer", "customer", "--reason", "Invoice 7")
        #expect(assigned.output == "Assigned \(transaction) to mint.\n", "\(assigned.error)")
        #expect(try await till.run("unclaimed").output == "No unclaimed purchases.\n")
        let owned = try await till.run("owned", "mint", "--issuer", "customer").output
        #expect(owned.contains("sprout 2"), "\(owned)")
        #expect(try await !till.run("owned", "mint").output.contains("sprout 2"))
        #expect(await server.end(SIGTERM) == 0)
    }
}
