import Foundation
import Proofs
import TestSupport
import Testing

/// `till refunds`, which tries the refund rules.
@Suite struct RefundCommandTests {
    private struct Answers: Decodable {
        struct Question: Decodable {
            let transactionId: String
            let productId: String?
            let isDelivered: Bool
            let refundPreference: String?
            let rule: String?
        }

        let questions: [Question]
    }

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `the rules answer the questions of the ledger, and nothing is sent`() async throws {
        let chain = try TestChains.ellipticCurve.get()
        let root = till.folder.file("root.cer")
        try Data(chain.root.certificate.der).write(to: root)
        #expect(try await till.run("trust", "add", root.path).status == 0)
        let service = try await ServeProcess(till)
        let signed = try TestProofs.notification(
            "CONSUMPTION_REQUEST", uuid: UUID().uuidString, about: TestProofs.transactionPayload(),
            with: chain.leaf.key, chain: chain.certificates)
        let received = try await service.curl("/v1/notifications/apple", body: "{\"signedPayload\":\"\(signed)\"}")
        #expect(received.status == 200)

        let bare = try await till.run("refunds")
        #expect(bare.status == 0)
        #expect(bare.error.contains("The catalog has no RefundRules.json, so no rule answers."))
        let catalog = till.folder.folder("catalog")
        try FileManager.default.copyItem(at: Project.products, to: catalog)
        let rules = #"{"rules": [{"name": "lost", "isDelivered": false, "answer": "GRANT_FULL"}]}"#
        try Data(rules.utf8).write(to: catalog.appending(path: "RefundRules.json"))
        let tried = try await till.run("refunds", "--catalog", "catalog", "--json")
        #expect(tried.status == 0, "\(tried.error)")
        let question = try #require(try tried.decoded(Answers.self).questions.first)
        #expect(question.transactionId == "2000000000000001" && !question.isDelivered)
        #expect(question.productId == "com.memolease.sesac1.sprout1")
        #expect(question.refundPreference == "GRANT_FULL" && question.rule == "lost")
        let table = try await till.run("refunds", "--catalog", "catalog", "--refund-preference", "DECLINE")
        #expect(table.output.contains(#"GRANT_FULL by rule "lost""#))
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a service with rules that answers nobody says so`() async throws {
        let catalog = till.folder.folder("catalog")
        try FileManager.default.copyItem(at: Project.products, to: catalog)
        try Data(#"{"rules": []}"#.utf8).write(to: catalog.appending(path: "RefundRules.json"))
        let service = try await ServeProcess(till, ["--catalog", "catalog"])
        #expect(await service.end(SIGTERM) == 0)
        #expect(try service.log.contains("RefundRules.json has no effect"))
        try Data(#"{"rules": [{"name": "a", "answer": "NO"}]}"#.utf8).write(
            to: catalog.appending(path: "RefundRules.json"))
        let wrong = try await till.run("serve", "--port", "0", "--catalog", "catalog", "--json")
        #expect(wrong.code == "catalogInvalid")
    }

    @Test(arguments: [
        ["refunds", "--limit", "0"], ["refunds", "--limit", "1001"], ["refunds", "--refund-preference", "NO"],
    ])
    func `wrong usage ends with 64`(arguments: [String]) async throws {
        #expect(try await till.run(arguments: arguments).status == 64)
    }
}
