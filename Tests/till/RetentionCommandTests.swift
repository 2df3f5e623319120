import Foundation
import Proofs
import TestSupport
import Testing

/// `till retention`, which tries the rules, and the service that answers by them.
@Suite struct RetentionCommandTests {
    private static let message = "c2d9e0a6-1f57-4d3c-b7a4-8e6f5a3b9d02"

    private struct Decision: Decodable {
        let productId: String
        let isRedeemed: Bool
        let answer: String
        let messageIdentifier: String?
        let rule: String?
    }

    private let till: TillProcess
    private let garden: TestGarden

    init() throws {
        till = try TillProcess()
        let rule =
            #"{"name": "known", "isRedeemed": true, "locales": ["en"], "answer": {"message": {"messageIdentifier": "\#(Self.message)"}}}"#
        garden = try TestGarden(retentionRules: #"{"rules": [\#(rule)]}"#)
        try FileManager.default.copyItem(
            at: garden.folder.folder("catalog"), to: till.folder.folder("catalog"))
    }

    @Test func `the rules are tried, and the service answers the local store by them`() async throws {
        let service = try await ServeProcess(till, ["--store", "--catalog", "catalog"])
        let bought = try await till.run("buy", "garden.basic.monthly", "--user", "alice", "--catalog", "catalog")
        #expect(bought.status == 0, "\(bought.error)")
        let sales = try await till.run("store", "sales", "alice", "--json").output
        let transaction = String(try #require(sales.firstMatch(of: /"originalTransactionId" : "(\d+)"/)).1)

        let known = try await till.run("retention", transaction, "--catalog", "catalog", "--json").decoded(
            Decision.self)
        #expect((known.productId, known.isRedeemed) == ("garden.basic.monthly", true))
        #expect((known.answer, known.messageIdentifier, known.rule) == ("message", Self.message, "known"))
        let stranger = try await till.run("retention", "--product", "garden.basic.monthly", "--catalog", "catalog")
        #expect(stranger.output.contains("Answer: none, no rule matched\n"))
        let unknown = try await till.run("retention", "1", "--catalog", "catalog")
        #expect(unknown.status == 1 && unknown.error.contains("No user has redeemed the transaction \"1\"."))

        // Nobody has uploaded the message, so the store says what it would have needed.
        let asked = try await till.run("store", "retention", transaction, "--locale", "en-US")
        #expect(asked.output.contains("/v1/retention/apple answered 200 after "), "\(asked.error)")
        #expect(asked.output.contains("No message \(Self.message) is uploaded."))
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `mistakes in the rules end the start, and what cannot answer is noted`() async throws {
        let file = till.folder.folder("catalog").appending(path: "RetentionRules.json")
        let offer = #"{"promotionalOffer": {"messageIdentifier": "\#(Self.message)", "offerIdentifier": "spring"}}"#
        try Data(#"{"rules": [{"name": "a", "answer": \#(offer)}]}"#.utf8).write(to: file)
        let service = try await ServeProcess(till, ["--catalog", "catalog"])
        #expect(await service.end(SIGTERM) == 0)
        #expect(try service.log.contains("has offers, and the service has no key to sign them"))
        try Data(#"{"rules": [{"name": "a"}]}"#.utf8).write(to: file)
        let wrong = try await till.run("serve", "--port", "0", "--catalog", "catalog", "--json")
        #expect(wrong.code == "catalogInvalid" && (wrong.output + wrong.error).contains("rules[0].answer"))
        #expect(try await till.run("retention").status == 64)
    }
}
