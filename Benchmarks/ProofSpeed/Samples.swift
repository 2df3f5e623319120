import Proofs

/// Sample proofs with the structure and size of Apple's, with their trust anchors.
struct Samples: Sendable {
    let anchors: TrustAnchors
    /// Distinct signed transactions of about 4.5 KB.
    let transactions: [[UInt8]]
    /// Signed transactions of more leaves below the same intermediate than the cache of chains has.
    let transactionsOfLeaves: [[UInt8]]
    /// The DER of distinct app receipts with ten purchases.
    let receiptsOfTen: [[UInt8]]
    /// The DER of distinct app receipts with 187 purchases, as in the largest known receipt of Apple.
    let receiptsOf187: [[UInt8]]
    /// Distinct signed purchases of Google Play, of about 400 bytes.
    let purchases: [SignedPurchase]
    let appKey: AppKey
    /// The DER of the two certificates that the verifier parses in each chain.
    let certificates: [[UInt8]]

    /// A bare P-256 signature.
    private let signature: (key: PublicKey, digest: [UInt8], bytes: [UInt8])

    static let clock = FixedClock()

    init() throws {
        let validity = 1_577_836_800...Int64(2_208_988_800)
        let ellipticCurve = try CertificateChain.make(
            .ellipticCurve, name: "Benchmark", validity: validity, randomBytes: Randomness.system.bytes
        ) { template in
            // The padding makes the certificates as long as Apple's, which contain policies.
            template.organization += String(repeating: ".", count: 52)
        }
        let rsa = try CertificateChain.make(
            .rsa, name: "Benchmark", validity: validity, randomBytes: Randomness.system.bytes)
        anchors = try TrustAnchors([ellipticCurve, rsa].compactMap { try TrustAnchor($0.root.certificate) })
        transactions = try (0..<500).map { try Self.transaction($0, chain: ellipticCurve) }
        transactionsOfLeaves = try (0..<64 as Range<UInt8>).map {
            try Self.transaction(Int($0), chain: Self.anotherLeaf($0, below: ellipticCurve, validity: validity))
        }
        receiptsOfTen = try (0..<100).map { try Self.receipt($0, purchases: 10, chain: rsa) }
        receiptsOf187 = try (0..<20).map { try Self.receipt($0, purchases: 187, chain: rsa) }
        let key = rsa.leaf.key
        purchases = try (0..<100).map { try SignedPurchase.sign(Self.purchaseText($0), with: key) }
        appKey = AppKey(packageName: "com.memolease.sesac1", publicKey: key.publicKey)
        certificates = ellipticCurve.certificates.prefix(2).map(\.der)
        let message = Randomness.system.bytes(100)
        signature = (
            ellipticCurve.leaf.key.publicKey, DigestAlgorithm.sha256.digest(of: message),
            try ellipticCurve.leaf.key.signES256(message)
        )
    }

    /// Verifies the bare signature, the lower bound for every proof.
    func verifySignature(_: Int) {
        precondition(signature.key.verifiesES256(signature.bytes, overDigest: signature.digest))
    }

    private static func anotherLeaf(
        _ number: UInt8, below chain: CertificateChain, validity: ClosedRange<Int64>
    ) throws -> CertificateChain {
        let template = CertificateTemplate(
            role: .leaf, commonName: "Benchmark Signing", organization: "Till" + String(repeating: ".", count: 52),
            serialNumber: [2, number], notBefore: validity.lowerBound, notAfter: validity.upperBound,
            appleExtensions: [.receiptSigning], ocspResponder: "http://ocsp.till.invalid/")
        let key = try PrivateKey.generate(.p256)
        let certificate = try template.issue(
            for: key.publicKey, issuer: chain.intermediate.certificate, signer: chain.intermediate.key, digest: .sha384)
        return CertificateChain(
            root: chain.root, intermediate: chain.intermediate, leaf: .init(certificate: certificate, key: key))
    }

    private static func transaction(_ number: Int, chain: CertificateChain) throws -> [UInt8] {
        let identifier = identifier(number)
        let date = JSONValue.integer(clock.now().millisecondsSince1970)
        let payload: JSONObject = [
            "transactionId": .string(identifier), "originalTransactionId": .string(identifier),
            "bundleId": "com.memolease.sesac1", "productId": "com.memolease.sesac1.sprout1", "purchaseDate": date,
            "originalPurchaseDate": date, "quantity": .integer(1), "type": "Non-Consumable",
            "inAppOwnershipType": "PURCHASED", "signedDate": date, "environment": "Sandbox",
            "transactionReason": "PURCHASE", "storefront": "KOR", "storefrontId": "143466",
            "price": .integer(1_200_000), "currency": "KRW", "appTransactionId": "704897469903783919",
        ]
        return Array(try SignedJSON.sign(.object(payload), with: chain.leaf.key, chain: chain.certificates).utf8)
    }

    private static func purchaseText(_ number: Int) -> [UInt8] {
        let text = """
            {"orderId":"GPA.3396-1451-9236-\(10_000 + number)","packageName":"com.memolease.sesac1","productId":"sprout1",\
            "purchaseTime":1779999620691,"purchaseState":0,"purchaseToken":"omicodhjknjpbilmeihjkofp.AO-J1OxWIPzx_C7K3I5cf\
            wtqIgoBSQcq_gGHyHgx4QtI1fTByN6chUTS3bpTR1umS_RWBGQK2_DBS7e_mQrnekVnN60eoLRQuVCfZNc0Gjoud2rKohC\(10_000 + number)",\
            "obfuscatedAccountId":"5e2f3b0e-6b1f-4d6e-8c1a-0123456789ab","quantity":1,"acknowledged":false}
            """
        return Array(text.utf8)
    }

    private static func receipt(_ number: Int, purchases: Int, chain: CertificateChain) throws -> [UInt8] {
        var receipt = AppReceipt()
        receipt.receiptType = "ProductionSandbox"
        receipt.appItemID = 0
        receipt.bundleIdentifier = "com.memolease.sesac1"
        receipt.applicationVersion = "1"
        receipt.opaqueValue = Randomness.system.bytes(16)
        receipt.deviceHash = Randomness.system.bytes(20)
        receipt.ageRating = "4+"
        receipt.creationDate = clock.now()
        receipt.inAppPurchases = try (0..<purchases).map { try self.purchase(number * 1000 + $0) }
        receipt.originalApplicationVersion = "1.0"
        return try SignedData.sign(receipt.payload(), with: chain.leaf.key, chain: chain.certificates)
    }

    /// Returns a purchase with the attributes of Apple's sandbox, including those without a known meaning.
    private static func purchase(_ number: Int) throws -> InAppPurchase {
        var purchase = InAppPurchase()
        purchase.productIdentifier = "com.memolease.sesac1.sprout1"
        purchase.transactionIdentifier = identifier(number)
        purchase.originalTransactionIdentifier = identifier(number)
        purchase.purchaseDate = clock.now()
        purchase.originalPurchaseDate = clock.now()
        purchase.productType = .nonConsumable
        purchase.itemID = 0
        purchase.webOrderLineItemID = 0
        purchase.isTrialPeriod = false
        purchase.isInIntroductoryOfferPeriod = false
        purchase.promotionalOfferIdentifier = ""
        purchase.otherAttributes =
            try [1709, 1714, 1715, 1716, 1717, 1718].map { try .string($0, "") } + [.integer(1722, 0)]
        return purchase
    }

    private static func identifier(_ number: Int) -> String { String(2_000_000_000_000_000 + number) }
}

/// A constant clock, so no proof expires.
struct FixedClock: WallClock {
    func now() -> Timestamp { Timestamp(secondsSince1970: 1_780_000_000) }
}
