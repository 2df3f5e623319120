import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// `till serve` beside a local App Store in another process, which it asks with a key as it asks Apple.
@Suite struct ServeAppStoreTests {
    private static let sandboxKey = "the-sandbox-key-of-the-tests"

    private let till: TillProcess
    private let store: ServeProcess
    private let storeKey: MadeStoreKey
    private let service: ServeProcess
    private let key: String

    init() async throws {
        till = try TillProcess()
        let garden = try TestGarden()
        store = try await ServeProcess(
            till,
            [
                "--products", TestGarden.file.path, "--bundle-id", TestGarden.bundleIdentifier, "--notifications-url",
                "http://127.0.0.1:1/nobody", "--sandbox-key", Self.sandboxKey,
            ], command: "store")
        for root in ["receipts", "transactions"] {
            let file = till.folder.folder("data/store/keys").appending(path: "\(root)-root.cer").path
            #expect(try await till.run("trust", "add", file).status == 0)
        }
        storeKey = try await till.run("store", "keys", "--json").decoded(MadeStoreKey.self)
        key = try await till.makeKey("all")
        service = try await ServeProcess(
            till,
            [
                "--catalog", garden.folder.folder("catalog").path, "--app-store-key", storeKey.privateKey,
                "--app-store-key-id", storeKey.keyId, "--app-store-issuer-id", storeKey.issuerId, "--app-store-url",
                store.url.absoluteString,
            ])
    }

    /// Runs a command at the service.
    private func command(_ arguments: String...) async throws -> TillProcess.Result {
        try await till.run(
            arguments: arguments + ["--server", service.url.absoluteString], environment: ["TILL_API_KEY": key])
    }

    private func write(_ text: String, to name: String) throws -> String {
        let file = till.folder.file(name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func end() async {
        #expect(await service.end(SIGTERM) == 0)
        #expect(await store.end(SIGTERM) == 0)
    }

    /// Buys as a customer, and redeems for the user of the same name.
    ///
    /// - Parameter member: A further member of the request, after a comma.
    /// - Returns: The transaction.
    private func buy(_ product: String, account: String, _ member: String = "") async throws -> String {
        let bought = try await store.curl(
            "/sandbox/v1/purchases", key: Self.sandboxKey,
            body: #"{"account":"\#(account)","productId":"\#(product)"\#(member)}"#
        ).decoded(Bought.self)
        let redeemed = try await service.curl(
            "/v1/users/\(account)/transactions", key: key,
            body: #"{"signedTransaction":"\#(bought.signedTransaction)"}"#)
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        return bought.transactionId
    }

    private struct Bought: Decodable {
        let transactionId: String
        let signedTransaction: String
    }

    /// A request to sell a bench as a subscription, which a server has signed as Apple's libraries do
    /// (StoreKit, "Generating JWS to sign App Store requests").
    private func signedBench() throws -> String {
        let request = """
            {"operation":"CREATE_SUBSCRIPTION","version":"1","currency":"USD","period":"P1M","taxCode":"C003-00-2",
             "requestInfo":{"requestReferenceId":"\(UUID().uuidString.lowercased())"},
             "descriptors":{"displayName":"Tools","description":"All tools"},
             "items":[{"SKU":"bench","displayName":"Bench","description":"A bench","price":9990}]}
            """
        let header: JSONValue = .object(["alg": "ES256", "kid": .string(storeKey.keyId), "typ": "JWT"])
        let claims: JSONValue = .object([
            "iss": .string(storeKey.issuerId), "bid": .string(TestGarden.bundleIdentifier),
            "aud": "advanced-commerce-api", "iat": .integer(SystemClock().now().secondsSince1970),
            "nonce": .string(UUID().uuidString.lowercased()), "request": .string(Base64.encode(request.utf8)),
        ])
        let signed = [header, claims].map { Base64.encode($0.compactText.utf8, .urlSafe) }.joined(separator: ".")
        let pem = try String(contentsOf: URL(filePath: storeKey.privateKey), encoding: .utf8)
        let signature = try PrivateKey(pem: pem).signES256(Array(signed.utf8))
        return "\(signed).\(Base64.encode(signature, .urlSafe))"
    }

    @Test func `commands change what a server has described, and extend a subscription`() async throws {
        let bench = try await buy(
            "garden.basic.yearly", account: "alice", #","advancedCommerceJWS":"\#(try signedBench())""#)
        let price = try write(#"{"items":[{"SKU":"bench","price":8990}]}"#, to: "price.json")
        for (operation, file) in [("changePrice", [price]), ("cancel", [])] {
            let changed = try await till.run(
                arguments: ["advanced-commerce", bench, operation] + file
                    + ["--reason", "Asked", "--server", service.url.absoluteString],
                environment: ["TILL_API_KEY": key])
            #expect(changed.status == 0, "\(changed.error)")
            #expect(changed.output == "The App Store accepted \(operation) of \(bench).\n")
        }
        let told = try await till.run("store", "notifications").output
        #expect(told.contains("PRICE_CHANGE") && told.contains("DID_CHANGE_RENEWAL_STATUS"), "\(told)")

        let monthly = try await buy("garden.premium.monthly", account: "bob")
        let extended = try await command("actions", "request", "extend", monthly, "days=3", "--reason", "Outage")
        #expect(extended.status == 0, "\(extended.error)")
        #expect(extended.output.hasPrefix("extend of garden.premium.monthly: confirmed. App Store has done it.\n"))
        let listed = try await command("actions", "list", "confirmed")
        #expect(listed.status == 0 && listed.output.contains(monthly) && listed.output.contains("Outage"), "\(listed)")
        let shown = try await command("story", "bob")
        #expect(shown.status == 0 && shown.output.contains(monthly), "\(shown)")
        await end()
    }

    @Test func `a command reports a token of a purchase outside the App Store, and lists Apple's answer`() async throws
    {
        struct Token: Decodable {
            let externalPurchaseId: String
            let token: String
        }

        let made = try await till.run("store", "external-tokens", "--make", "--json").decoded(Token.self)
        let report = try write(
            #"{"requestIdentifier":"4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10","status":"NO_LINE_ITEM"}"#, to: "report.json")
        let unknown = try await command("external-purchases", "report", made.externalPurchaseId, report)
        #expect(unknown.status == 1 && unknown.error.contains("does not know this token"), "\(unknown)")
        let announced = try await service.curl(
            "/v1/apple/external-purchases", key: key, body: #"{"token":"\#(made.token)"}"#)
        #expect(announced.status == 201)
        let reported = try await command("external-purchases", "report", made.externalPurchaseId, report)
        #expect(reported.status == 0, "\(reported.error)")
        #expect(reported.output.hasPrefix("The report 4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10 is "))
        try await expectEventually {
            let accepted = try await command("external-purchases", "reports", "--state", "accepted")
            return accepted.status == 0 && accepted.output.contains(made.externalPurchaseId)
        }
        let listed = try await command("external-purchases", "--state", "reported")
        #expect(listed.status == 0 && listed.output.contains(made.externalPurchaseId), "\(listed)")
        #expect(try await till.run("store", "external-tokens").output.contains("NO_LINE_ITEM"))
        await end()
    }
}
