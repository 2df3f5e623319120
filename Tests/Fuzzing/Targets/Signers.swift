import Proofs

/// The chains of one run. The run's verifier accepts only their proofs, so every other accepted proof is forged.
package struct Signers: Sendable {
    let ellipticCurve: CertificateChain
    let rsa: CertificateChain
    private let verifier: ProofVerifier
    private let purchaseVerifier: SignedPurchaseVerifier
    private let everything = ProofExpectations(origins: Set(Origin.allCases))

    /// - Throws: `OpenSSLError`.
    package init() throws {
        // From 2020 to 2040.
        let validity: ClosedRange<Int64> = 1_577_836_800...2_208_988_800
        let randomBytes: (Int) -> [UInt8] = { Array(repeating: 1, count: $0) }
        ellipticCurve = try CertificateChain.make(
            .ellipticCurve, name: "Fuzz", validity: validity, randomBytes: randomBytes)
        rsa = try CertificateChain.make(.rsa, name: "Fuzz", validity: validity, randomBytes: randomBytes)
        let anchors = try [ellipticCurve, rsa].compactMap { try TrustAnchor($0.root.certificate) }
        verifier = ProofVerifier(anchors: try TrustAnchors(anchors), clock: SystemClock())
        purchaseVerifier = SignedPurchaseVerifier(
            keys: [AppKey(packageName: "b", publicKey: rsa.leaf.key.publicKey)], clock: SystemClock())
    }

    /// Verifies an input, and decodes it for people to see, which reads even what is refused.
    func accepts(_ input: [UInt8]) -> Bool {
        _ = verifier.inspect(PastedProof.proof(in: input))
        return (try? verifier.verify(input, expecting: everything)) != nil
    }

    /// Signs a payload like the App Store and verifies the proof.
    func verifySigned(payload: [UInt8]) {
        let certificates = ellipticCurve.certificates.map { JSONValue.string(Base64.encode($0.der)) }
        let header = JSONValue.object(["alg": "ES256", "x5c": .array(certificates)]).compactText
        let signed = Base64.encode(header.utf8, .urlSafe) + "." + Base64.encode(payload, .urlSafe)
        guard let signature = try? ellipticCurve.leaf.key.signES256(Array(signed.utf8)) else { return }
        _ = accepts(Array((signed + "." + Base64.encode(signature, .urlSafe)).utf8))
    }

    /// Verifies an input as the object of a signed purchase, and as the text of a purchase with a signature of other bytes.
    func acceptsPurchase(_ input: [UInt8]) -> Bool {
        if let purchase = try? SignedPurchase(json: input), (try? purchaseVerifier.verify(purchase)) != nil {
            // The seed is signed, and so is each spelling of its object.
            return (try? SignedPurchase.sign(purchase.data, with: rsa.leaf.key)) != purchase
        }
        let signature = [UInt8](repeating: 1, count: 256)
        let purchase = SignedPurchase(data: input, signature: Array(Base64.encode(signature).utf8))
        return (try? purchaseVerifier.verify(purchase)) != nil
    }

    /// Signs a purchase like Google Play and verifies it.
    func verifySigned(purchase: [UInt8]) {
        guard let signed = try? SignedPurchase.sign(purchase, with: rsa.leaf.key) else { return }
        _ = try? purchaseVerifier.verify(signed)
    }

    func answerAsVerifyReceipt(payload: [UInt8]) {
        guard let container = try? SignedData.sign(payload, with: rsa.leaf.key, chain: rsa.certificates) else { return }
        _ = VerifyReceiptAnswer(
            to: container, environment: nil, verifier: verifier,
            requestDate: Timestamp(millisecondsSince1970: 1_780_000_000_000))
    }
}
