import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

@Suite struct PurchaseTests {
    /// The output of `till store queue --json`.
    private struct Queue: Decodable {
        let transactions: [QueuedTransaction]
    }

    /// The output of `till buy --json`.
    private struct Bought: Decodable {
        let transaction: QueuedTransaction
    }

    /// The JSON output of `till resume` and `till restore`.
    private struct Delivered: Decodable {
        let delivered: [QueuedTransaction]
        let refused: [String: String]
    }

    static let sprout1 = "com.memolease.sesac1.sprout1"

    private func owned(_ till: TillProcess, _ user: String = "alice") async throws -> [String] {
        try await till.run("owned", user, "--json").decoded(List<OwnedItemResource>.self).elements.map(
            \.item.description)
    }

    private func queue(_ till: TillProcess) async throws -> [QueuedTransaction] {
        try await till.run("store", "queue", "--json").decoded(Queue.self).transactions
    }

    private func unfinished(_ till: TillProcess) async throws -> Int {
        try await queue(till).count { $0.state != "finished" }
    }

    @Test(arguments: ["receipt", "transaction"])
    func `a purchase ends with an owned item and a finished transaction`(proof: String) async throws {
        let till = try TillProcess()
        let bought = try await till.run("buy", Self.sprout1, "--user", "alice", "--proof", proof)
        #expect(bought.status == 0)
        #expect(bought.error == "")
        let steps = bought.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(steps.prefix(5) == ["purchasing", "purchased", "proof", "redeemed", "finished"])
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 1"])
        #expect(try await unfinished(till) == 0)
    }

    @Test func `support's questions have one command each`() async throws {
        let till = try TillProcess()
        _ = try await till.run("buy", Self.sprout1, "--user", "alice")
        let owned = try await till.run("owned", "alice")
        #expect(owned.output.contains(/sprout 1  Sturdy Sprout, since \d{4}-\d{2}-\d{2}\n/))
        let why = try await till.run("why", "alice", "sprout", "1")
        #expect(why.status == 0)
        #expect(why.output.hasPrefix("alice has sprout 1.\nThe user has bought \(Self.sprout1)"))
        let refused = try await till.run("why", "bob", "sprout", "1")
        #expect(refused.status == 1)
        let unknown = refused.output
        #expect(unknown.hasPrefix("bob does not have sprout 1.\nNo user \"bob\" is known; did you forget --issuer?\n"))
        #expect(unknown.contains("The service knows no purchase of"))
        #expect(try await !till.run("why", "alice", "sprout", "2").output.contains("is known"))
        let given = try await till.run("give", "alice", "sprout", "3", "--reason", "A present")
        #expect(given.status == 0, "\(given.error)")
        let story = try await till.run("story", "alice", "--json").decoded(List<StoryEntryResource>.self).elements
        #expect(Set(story.map(\.kind)) == ["itemGiven", "granted"])
        let transaction = try #require(story.first { $0.kind == "granted" }?.reference)
        let revoked = try await till.run("revoke", "alice", transaction, "--reason", "Chargeback")
        #expect(revoked.output.contains("Only Apple refunds"))
        let explained = try await till.run("why", "alice", "sprout", "1", "--json").decoded(ExplanationResource.self)
        #expect(explained.cause == "revokedByTeam")
        #expect(try await till.run("give", "alice", "hat", "1", "--reason", "x").status == 1)
    }

    @Test func `a second purchase of an owned product grants nothing more`() async throws {
        let till = try TillProcess()
        try await till.run("buy", Self.sprout1, "--user", "alice")
        let again = try await till.run("buy", Self.sprout1, "--user", "alice", "--json")
        #expect(again.status == 0)
        let transaction = try again.decoded(Bought.self).transaction
        #expect(transaction.originalTransactionId != transaction.transactionId)
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 1"])
    }

    @Test(arguments: [
        ("cancelled", "paymentCancelled"), ("notAllowed", "paymentNotAllowed"),
        ("notAvailable", "storeProductNotAvailable"),
        ("invalidOfferPrice", "invalidOfferPrice"),
    ])
    func `a failed payment grants nothing`(outcome: String, code: String) async throws {
        let till = try TillProcess()
        let bought = try await till.run("buy", Self.sprout1, "--user", "alice", "--outcome", outcome, "--json")
        #expect(bought.status == 1)
        #expect(bought.code == code)
        #expect(bought.error.hasPrefix("till: The payment failed with \(code)"))
        #expect(try await owned(till) == ["background 0", "sprout 0"])
        #expect(try await unfinished(till) == 0)
    }

    @Test func `a deferred purchase grants its item after the approval`() async throws {
        let till = try TillProcess()
        let bought = try await till.run("buy", Self.sprout1, "--user", "alice", "--outcome", "deferred")
        #expect(bought.status == 0)
        #expect(bought.output.contains("till store approve 1"))
        #expect(try await till.run("resume", "--user", "alice").output.contains("#1 waits for approval"))
        #expect(try await owned(till) == ["background 0", "sprout 0"])
        let approved = try await till.run("store", "approve", "1")
        #expect(approved.status == 0)
        #expect(approved.output.contains("till resume --user alice"))
        try await till.run("resume", "--user", "alice")
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 1"])
        #expect(try await till.run("store", "approve", "1").status == 1)
        #expect(try await till.run("store", "decline", "99").error.contains("no transaction 99"))
    }

    @Test func `a declined purchase grants nothing`() async throws {
        let till = try TillProcess()
        try await till.run("buy", Self.sprout1, "--user", "alice", "--outcome", "deferred")
        #expect(try await till.run("store", "decline", "1").status == 0)
        try await till.run("resume", "--user", "alice")
        #expect(try await owned(till) == ["background 0", "sprout 0"])
        #expect(try await unfinished(till) == 0)
    }

    /// The app is killed after each step. No purchase is lost or granted twice.
    @Test(
        arguments: ["paymentAdded", "purchased", "proofObtained", "redeemed", "finished"], ["receipt", "transaction"])
    func `a kill after any step loses no purchase`(step: String, proof: String) async throws {
        let till = try TillProcess()
        let killed = try await till.run(
            "buy", Self.sprout1, "--user", "alice", "--proof", proof, "--kill-after", step)
        #expect(killed.signal == SIGKILL)
        #expect(try await unfinished(till) == (step == "finished" ? 0 : 1))
        let resumed = try await till.run("resume", "--user", "alice")
        #expect(resumed.status == 0)
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 1"])
        #expect(try await unfinished(till) == 0)
        #expect(try await queue(till).count == 1)
        // The ledger has granted each purchase once.
        let receipt = try await till.run("receipt", "export", "--user", "alice")
        let redeemed = try await till.run("receipt", "redeem", "-", "--user", "alice", "--json", input: receipt.output)
        #expect(try redeemed.decoded(Redemption.self).outcome == .unchanged)
    }

    @Test(arguments: ["failed", "deferred"])
    func `a kill after a failed or deferred payment does not change its outcome`(state: String) async throws {
        let till = try TillProcess()
        let killed = try await till.run(
            "buy", Self.sprout1, "--user", "alice", "--outcome", state == "failed" ? "cancelled" : state,
            "--kill-after", state)
        #expect(killed.signal == SIGKILL)
        if state == "deferred" { try await till.run("store", "approve", "1") }
        try await till.run("resume", "--user", "alice")
        #expect(try await unfinished(till) == 0)
        #expect(try await owned(till).contains("sprout 1") == (state == "deferred"))
    }

    @Test func `a purchase also delivers an earlier, unfinished one`() async throws {
        let till = try TillProcess()
        try await till.run("buy", Self.sprout1, "--user", "alice", "--kill-after", "purchased")
        try await till.run("buy", "com.memolease.sesac1.background3", "--user", "alice")
        #expect(try await owned(till) == ["background 0", "background 3", "sprout 0", "sprout 1"])
        #expect(try await unfinished(till) == 0)
    }

    @Test func `concurrent purchases of one user are all granted`() async throws {
        let till = try TillProcess()
        async let one = till.run("buy", Self.sprout1, "--user", "alice")
        async let two = till.run("buy", "com.memolease.sesac1.sprout2", "--user", "alice")
        async let three = till.run("buy", "com.memolease.sesac1.sprout3", "--user", "alice")
        #expect(try await [one.status, two.status, three.status] == [0, 0, 0])
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 1", "sprout 2", "sprout 3"])
        #expect(try await unfinished(till) == 0)
    }

    @Test func `two concurrent purchases of one product both succeed`() async throws {
        let till = try TillProcess()
        async let one = till.run("buy", Self.sprout1, "--user", "alice")
        async let two = till.run("buy", Self.sprout1, "--user", "alice")
        #expect(try await [one.status, two.status] == [0, 0])
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 1"])
        #expect(try await unfinished(till) == 0)
    }

    @Test func `an earlier purchase that is refused does not fail the next one`() async throws {
        let till = try TillProcess()
        try await till.run("buy", Self.sprout1, "--user", "alice", "--kill-after", "purchased")
        let receipt = try await till.run("receipt", "export", "--user", "alice").output
        try await till.run("receipt", "redeem", "-", "--user", "bob", input: receipt)
        let bought = try await till.run("buy", "com.memolease.sesac1.sprout2", "--user", "alice", "--json")
        #expect(bought.status == 0)
        #expect(try bought.decoded(Bought.self).transaction.state == "finished")
        #expect(bought.error.hasPrefix("till: Transaction 1, from before, stays in the queue"))
        let resumed = try await till.run("resume", "--user", "alice", "--json")
        #expect(resumed.status == 1)
        #expect(try resumed.decoded(Delivered.self).refused == ["1": "ownedByAnotherUser"])
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 2"])
    }

    @Test func `a restore delivers the user's purchases`() async throws {
        let till = try TillProcess()
        try await till.run("buy", Self.sprout1, "--user", "alice")
        let restored = try await till.run("restore", "--user", "alice", "--json")
        #expect(try restored.decoded(Delivered.self).delivered.count == 1)
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 1"])
    }

    @Test func `concurrent purchases of two users get one grant each`() async throws {
        let till = try TillProcess(hasKeys: false)
        async let one = till.run("buy", Self.sprout1, "--user", "alice")
        async let two = till.run("buy", "com.memolease.sesac1.sprout2", "--user", "bob")
        #expect(try await one.status == 0)
        #expect(try await two.status == 0)
        #expect(try await owned(till) == ["background 0", "sprout 0", "sprout 1"])
        #expect(try await owned(till, "bob") == ["background 0", "sprout 0", "sprout 2"])
    }
}
