import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing

/// The commands that do what the pages of customers and webhooks do for the team.
@Suite struct TeamCommandTests {
    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `an item that the team has given is listed, and revoked with a reason`() async throws {
        let why = ["why", "alice", "sprout", "3"]
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        #expect(try await till.run("grants", "list", "alice").output == "The team has given user \"alice\" nothing.\n")
        let given = try await till.run("give", "alice", "sprout", "3", "--reason", "Sorry", "--json")
        let grant = try given.decoded(GrantResource.self).grantId
        let listed = try await till.run("grants", "list", "alice", "--json").decoded(List<GrantResource>.self).elements
        #expect(listed.map(\.grantId) == [grant])
        let table = try await till.run("grants", "list", "alice").output
        #expect(table.hasPrefix("GRANT ") && table.contains("\(grant)  sprout 3  ") && table.hasSuffix("  Sorry\n"))
        #expect(try await till.run(arguments: why).output.hasPrefix("alice has sprout 3."))
        let revoked = try await till.run("grants", "revoke", "alice", grant, "--reason", "Mistake")
        #expect(revoked.output == "Revoked sprout 3 of alice.\n", "\(revoked.error)")
        #expect(try await till.run(arguments: why).output.hasPrefix("alice does not have sprout 3."))
        #expect(try await till.run("audit", "alice").output.contains("Mistake"))
        #expect(try await till.run("grants", "revoke", "bob", grant, "--reason", "x", "--json").code == "grantNotFound")
    }

    @Test func `attributes are set, listed and removed`() async throws {
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        let set = try await till.run("attributes", "set", "alice", "level", "9")
        #expect(set.output == "Set level of alice.\n", "\(set.error)")
        #expect(try await till.run("attributes", "set", "alice", "$email", "a@example.com").status == 0)
        let list = try await till.run("attributes", "list", "alice", "--json").decoded(List<AttributeResource>.self)
        #expect(list.elements.map(\.name) == ["$email", "level"])
        #expect(list.elements.last?.value == "9")
        #expect(try await till.run("attributes", "remove", "alice", "level").output == "Removed level of alice.\n")
        #expect(try await !till.run("attributes", "list", "alice").output.contains("level"))
        #expect(try await till.run("attributes", "list", "bob").output == "No attributes of user \"bob\".\n")
        #expect(try await till.run("attributes", "set", "alice", "", "9").status == 64)
    }

    @Test func `all data of a user is exported, and the user is erased once the name is repeated`() async throws {
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        let exported = try await till.run("export-user", "alice")
        let archive = try exported.json()
        #expect(archive["user"]?["name"]?.text == "alice", "\(exported.error)")
        #expect(try await till.run("export-user", "alice", "--json").json()["transactions"] == archive["transactions"])
        #expect(try await till.run("export-user", "bob", "--json").code == "userNotFound")
        for wrong in [[], ["--confirm", "bob"]] {
            let refused = try await till.run(arguments: ["erase-user", "alice"] + wrong)
            #expect(refused.status == 64)
            #expect(refused.error.hasPrefix("Error: Erasure cannot be undone. Repeat the name: --confirm alice\n"))
        }
        let erased = try await till.run("erase-user", "alice", "--confirm", "alice")
        #expect(erased.output == "Erased alice.\n", "\(erased.error)")
        #expect(try await till.run("erase-user", "alice", "--confirm", "alice", "--json").code == "userNotFound")
        #expect(try await till.run("customers", "alice").output == "No customers found.\n")
    }

    @Test func `a product is created, pictured, withdrawn and restored, and a change is undone`() async throws {
        let moon = "com.memolease.sesac1.sprout9"
        let definition = #"{"type":"NonConsumable","displayPrice":"2500","collection":"sprout","number":9}"#
        try Data(definition.utf8).write(to: till.folder.file("moon.json"))
        let picture = #"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>"#
        try Data(picture.utf8).write(to: till.folder.file("moon.svg"))
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        func run(_ arguments: String...) async throws -> TillProcess.Result {
            try await till.run(arguments: ["products"] + arguments)
        }
        #expect(try await run("history").output == "No changes. The products are as the files define them.\n")
        let made = try await run("change", moon, "moon.json")
        #expect(made.output == "The catalog has \(moon) with this definition.\n", "\(made.error)")
        #expect(try await till.run("give", "alice", "sprout", "9", "--reason", "x").status == 0)
        let shown = try await run("show", moon)
        #expect(try shown.json()["displayPrice"]?.text == "2500")
        // The printed definition can be sent back.
        let cheaper = shown.output.replacing("2500", with: "1000")
        #expect(try await till.run(arguments: ["products", "change", moon, "-"], input: cheaper).status == 0)
        #expect(try await run("show", moon).json()["displayPrice"]?.text == "1000")
        #expect(try await run("picture", moon, "moon.svg").output == "The item of \(moon) has this picture.\n")
        #expect(try await run("withdraw", moon).output == "\(moon) is withdrawn from sale.\n")
        #expect(try await run("return", moon).output == "\(moon) is for sale.\n")
        let history = try await run("history", moon).output.split(separator: "\n")
        #expect(history.count == 6)
        #expect(history.first?.hasPrefix("CHANGE  TIME  ") == true)
        #expect(
            history[1].hasPrefix("5       ") && history[1].hasSuffix("restored   \(moon)  process"), "\(history[1])")

        #expect(try await run("undo", "2").output == "Undone: change 2\n")
        #expect(try await run("show", moon).json()["displayPrice"]?.text == "2500")
        #expect(try await run("undo", "3", "--json").code == "changeNotUndoable")
        #expect(try await run("undo", "99", "--json").code == "changeNotFound")
        #expect(try await run("restore", moon).output == "\(moon) is as the files define it.\n")
        #expect(try await run("show", moon, "--json").code == "productNotFound")
        try Data("{".utf8).write(to: till.folder.file("broken.json"))
        #expect(try await run("change", moon, "broken.json", "--json").code == "definitionInvalid")
        #expect(try await run("change", moon, "nowhere.json", "--json").code == "fileUnreadable")
        #expect(try await run("change", moon, "moon.svg", "--json").code == "definitionInvalid")
    }

    @Test func `refusals, notifications and the team's actions are listed from the ledger`() async throws {
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        #expect(try await till.run("refusals").output == "No purchase was ever refused.\n")
        #expect(try await till.run("notifications").output == "No notification matches.\n")
        #expect(try await till.run("console", "actions").output == "There are none.\n")
        let proof = till.folder.file("alice.jws").path
        try await till.run("receipt", "export", "--user", "alice", "--transaction", "1", "--out", proof)
        #expect(try await till.run("receipt", "redeem", proof, "--user", "bob").status == 1)
        let codes = try await till.run("refusals").output
        #expect(codes.contains("\nownedByAnotherUser  1             20"), "\(codes)")
        #expect(codes.contains("\nownedByAnotherUser: "))
        let one = try await till.run("refusals", "ownedByAnotherUser")
        #expect(one.output.hasPrefix("Cause: ") && one.output.contains("  bob       com.memolease.sesac1.sprout1  "))
        struct Refused: Decodable {
            struct Row: Decodable {
                let user: UserName
            }

            let refusals: [Row]
        }
        let listed = try await till.run("refusals", "ownedByAnotherUser", "--json").decoded(Refused.self)
        #expect(listed.refusals.map(\.user.name) == ["bob"])
        #expect(
            try await till.run("refusals", "productUnknown").output.hasSuffix(
                "No purchase was refused with this code.\n"))

        let server = try await ServeProcess(till, ["--store"])
        #expect(try await till.run("store", "buy", "com.memolease.sesac1.sprout2", "--account", "carol").status == 0)
        await expectEventually { (try? await till.run("notifications").output.contains("ONE_TIME_CHARGE")) == true }
        #expect(await server.end(SIGTERM) == 0)
        let parked = try await till.run("notifications", "--outcome", "parked", "--type", "ONE_TIME_CHARGE", "--json")
        guard case .array(let notifications)? = try parked.json()["notifications"] else {
            Issue.record("\(parked.output)")
            return
        }
        #expect(notifications.count == 1 && notifications.first?["content"] != nil)
        #expect(try await till.run("notifications", "--type", "REFUND").output == "No notification matches.\n")
        #expect(try await till.run("notifications", "--outcome", "lost").status == 64)
    }

    @Test func `a webhook is added, tested, changed and removed, and its messages are sent again`() async throws {
        let receiver = try await WebhookReceiver()
        func run(_ arguments: String..., authorization: String = "") async throws -> TillProcess.Result {
            try await till.run(
                arguments: ["webhooks"] + arguments,
                environment: [
                    "TILL_WEBHOOK_PRIVATE_ADDRESSES": "true", "TILL_WEBHOOK_AUTHORIZATION": authorization,
                ])
        }
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "bob").status == 0)
        #expect(try await run("list").output == "There is no webhook.\n")
        #expect(try await till.run("webhooks", "add", receiver.url, "--json").code == "webhookURLInvalid")
        let added = try await run("add", receiver.url, "--authorization", "--json", authorization: "Bearer a")
        let webhook = try added.decoded(WebhookResource.self)
        #expect(webhook.hasAuthorization)
        #expect(try await run("add", receiver.url, "--authorization").status == 64)
        let tested = try await run("test", webhook.webhookId)
        #expect(tested.output == "The test message was sent: status 204\n", "\(tested.error)")
        #expect(receiver.received.map(\.authorization) == ["Bearer a"])
        #expect(receiver.received.first?.body.contains("\"test\"") == true)

        #expect(try await till.run("buy", "com.memolease.sesac1.sprout2", "--user", "alice").status == 0)
        let messages = try await run("messages", webhook.webhookId, "--user", "alice", "--json")
            .decoded(List<WebhookDeliveryResource>.self).elements
        let message = try #require(messages.first)
        #expect(messages.count == 1 && message.message?.type == "product.purchased")
        #expect(message.message?.data.app == "com.memolease.sesac1" && message.message?.data.items != nil)
        let table = try await run("messages", webhook.webhookId, "--state", "pending").output
        #expect(
            table.contains("\n\(message.messageId)  product.purchased  alice     pending  0         -\n"), "\(table)")
        #expect(try await run("messages", webhook.webhookId, "--state", "failed").output == "No message.\n")
        #expect(
            try await run("resend", webhook.webhookId, message.messageId).output == "The message will be sent again.\n")
        for choice in [
            ["--failed"], ["--user", "bob"], ["--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02"],
        ] {
            let resent = try await till.run(arguments: ["webhooks", "resend", webhook.webhookId] + choice)
            #expect(resent.output == "0 messages will be sent again.\n", "\(resent.error)")
        }
        for wrong in [
            [], ["--failed", "--user", "alice"], ["--from", "2026-01-01T00:00:00Z"], ["--failed", "--issuer", "x"],
        ] {
            #expect(try await till.run(arguments: ["webhooks", "resend", webhook.webhookId] + wrong).status == 64)
        }

        let moved = try await run("change", webhook.webhookId, "--url", "https://hooks.invalid/a", "--no-authorization")
        let place =
            "\(webhook.webhookId) sends messages of all types about all apps to https://hooks.invalid/a.\n"
        #expect(moved.output == place + "There is no header Authorization.\n", "\(moved.error)")
        #expect(try await run("change", webhook.webhookId).status == 64)
        let unreachable = try await run("test", webhook.webhookId)
        #expect(unreachable.status == 1)
        #expect(unreachable.output == "The test message was sent: hostUnknown\n")
        let secret = try #require(webhook.secret)
        #expect(try await run("secret", webhook.webhookId).output == "Secret: \(secret)\n")
        let replaced = try await run("secret", webhook.webhookId, "--rotate", "--overlap", "0").output
        #expect(replaced.hasPrefix("Secret: whsec_") && !replaced.contains(secret))
        #expect(try await run("remove", webhook.webhookId).output == "Removed: \(webhook.webhookId)\n")
        #expect(try await run("test", webhook.webhookId, "--json").code == "webhookNotFound")
    }
}
