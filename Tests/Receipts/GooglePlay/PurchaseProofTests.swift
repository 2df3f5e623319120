import Foundation
import Proofs
import TestSupport
import Testing

/// Signed purchases of Google Play as proofs among the others: verified, pasted, decoded, kept, and by the keys of a folder.
@Suite struct PurchaseProofTests {
    private static let key = Result { try PrivateKey.generateRSA() }

    private let key: PrivateKey

    init() throws {
        key = try Self.key.get()
    }

    private func verifier(_ keys: [AppKey]) throws -> ProofVerifier {
        ProofVerifier(anchors: try TrustAnchors([]), appKeys: keys, clock: ManualClock())
    }

    private func appKey(_ realm: Realm = .google) -> AppKey {
        AppKey(packageName: "com.example.garden", publicKey: key.publicKey, bundleIdentifier: "garden", realm: realm)
    }

    private func proof(changing changes: [(String, JSONValue?)] = []) throws -> [UInt8] {
        Array(try TestPurchase(of: "garden.gate", by: key, changing: changes).text.utf8)
    }

    @Test(arguments: [(Realm.google, Origin.googleProduction), (.localPlay, .localPlayProduction)])
    func `the owner of the key determines the origin`(realm: Realm, origin: Origin) throws {
        let verifier = try verifier([appKey(realm)])
        let verified = try verifier.verify(
            try proof(), expecting: ProofExpectations(bundleIdentifier: "garden", origins: [origin]))
        #expect(verified.origin == origin && verified.bundleIdentifier == "garden")
        #expect(verified.fingerprints.leaf == key.publicKey.fingerprint && verified.chains.isEmpty)
        #expect(verified.signedPurchase?.packageName == "com.example.garden")
        let purchase = try #require(verified.purchases?.first)
        #expect(purchase.transactionIdentifier == "aaaabbbbccccddddeeeeffff.AO-J1Oz_-")
        #expect(purchase.originalTransactionIdentifier == purchase.transactionIdentifier)
        #expect(purchase.facts.text(.orderId) == "GPA.3345-1111-2222-33333")
        let others = Set(Origin.allCases).subtracting([origin])
        #expect { try verifier.verify(try proof(), expecting: ProofExpectations(origins: others)) } throws: { error in
            (error as? ProofRefusal)?.reason == .originNotAccepted
        }
    }

    @Test func `an account identifier that is a UUID names the user, and a placeholder names nobody`() throws {
        let verifier = try verifier([appKey()])
        let token = UUID()
        for (text, named) in [
            (token.uuidString.lowercased(), token), ("unset", nil), ("00000000-0000-0000-0000-000000000000", nil),
        ] {
            let proof = try proof(changing: [("obfuscatedAccountId", .string(text))])
            let verified = try verifier.verify(proof, expecting: ProofExpectations(origins: [.googleProduction]))
            #expect(verified.purchases?.first?.appAccountToken == named)
            #expect(verified.purchases?.first?.facts.text(.obfuscatedAccountId) == text)
        }
    }

    @Test func `a pasted purchase keeps the spaces of its signed text`() throws {
        let purchase = try SignedPurchase.sign(Array(#"{ "productId" : "gate" }"#.utf8), with: key)
        let pasted = Array("\n  \(purchase.json.prettyText)\n".utf8)
        #expect(PastedProof.proof(in: pasted) == purchase.json.compactBytes)
    }

    @Test func `a kept purchase is restored`() throws {
        let proof = try proof()
        let kept = KeptProof(proof, digest: [])
        #expect(kept.certificates.isEmpty)
        #expect(KeptProof.assemble(kept.bytes, kept.certificates) == proof)
    }

    @Test func `a purchase is decoded with its key, and also without one`() throws {
        let proof = try proof()
        let known = try verifier([appKey()]).inspect(proof)
        #expect(known.kind == .signedPurchase && known.appKey == appKey() && known.defects.isEmpty)
        #expect(known.signature?.matchesSigner == true)
        guard case .text("garden.gate")? = known.payload?["productId"],
            case .date(let date, "1700000000000")? = known.payload?["purchaseTime"]
        else {
            Issue.record("other fields")
            return
        }
        #expect(date.secondsSince1970 == 1_700_000_000)
        let unknown = try verifier([]).inspect(proof)
        #expect(unknown.appKey == nil && unknown.signature?.matchesSigner == nil && unknown.digest == known.digest)
        let broken = try verifier([appKey()]).inspect(Array(#"{"purchase":"{","signature":"A"}"#.utf8))
        #expect(broken.signature?.matchesSigner == false && broken.defects.count == 2)
    }

    @Test func `a folder keeps keys beside roots`() throws {
        let temporary = try TemporaryFolder()
        let folder = TrustFolder(temporary.url)
        try folder.add(appKey())
        try folder.add(appKey())
        try folder.add(try #require(try TrustAnchor(try TestChains.rsa.get().root.certificate)))
        #expect(try folder.appKeys().map(\.key) == [appKey()])
        #expect(try folder.entries().count == 1)
        #expect(try [AppKey](folders: [temporary.url]) == [appKey()])
        let fingerprint = key.publicKey.fingerprint.hexadecimal
        #expect(try folder.removeAppKey(fingerprint: String(fingerprint.prefix(7))) == nil)
        #expect(try folder.removeAppKey(fingerprint: fingerprint) == appKey())
        #expect(try folder.appKeys().isEmpty)
        for wrong in [
            "{}", "[]", #"{"realm":"apple","packageName":"a.b","publicKey":"\#(try key.publicKey.informationText())"}"#,
            #"{"realm":"google","packageName":"a b","publicKey":"\#(try key.publicKey.informationText())"}"#,
            #"{"realm":"google","packageName":"a.b","publicKey":"AAAA"}"#,
        ] {
            try Data(wrong.utf8).write(to: temporary.file("key.json"))
            #expect(throws: TrustError.self) { try folder.appKeys() }
        }
    }

    @Test func `a verifier takes a key that is added to its folder, and none that was removed before`() throws {
        let temporary = try TemporaryFolder()
        let folder = TrustFolder(temporary.url)
        let verifier = try ProofVerifier(trusting: [temporary.url], clock: ManualClock())
        let proof = try proof()
        func reason() -> ProofRefusal.Reason? {
            do {
                _ = try verifier.verify(proof, expecting: ProofExpectations(origins: [.googleProduction]))
                return nil
            } catch { return error.reason }
        }
        #expect(reason() == .appKeyMissing)
        try folder.add(AppKey(packageName: "com.example.other", publicKey: PrivateKey.generateRSA().publicKey))
        #expect(reason() == .signatureInvalid)
        try Data("{}".utf8).write(to: temporary.file("a.json"))
        try folder.add(appKey())
        // A damaged file leaves the keys as they are.
        #expect(reason() == .signatureInvalid)
        try FileManager.default.removeItem(at: temporary.file("a.json"))
        #expect(reason() == nil)
        #expect(verifier.inspect(proof).appKey == appKey())
    }

    @Test(arguments: [
        ("com.example.garden", true), ("a.b", true), ("com.Example_2.x9", true), ("garden", false), ("", false),
        ("com..garden", false), ("com.example.", false), ("com/example.a", false), ("com.정원", false),
        ("com.\(String(repeating: "x", count: 260))", false),
    ])
    func `a package has the name of an Android app`(name: String, isValid: Bool) {
        #expect(AppKey.isPackageName(name) == isValid)
    }
}
