import Synchronization

/// Verifies proofs of purchase: app receipts, the signed JSON of transactions, renewals, notifications and apps, and signed purchases of
/// Google Play.
///
/// `ProofRefusal.Step` defines the order of the checks. The verifier trusts a payload only after it has verified the
/// signature. It reads only the payload's date earlier, to choose the moment at which it validates the chain.
///
/// One verifier serves many threads and many proofs. It caches the valid chains.
public struct ProofVerifier: Sendable {
    /// The maximum size of a proof in bytes: the DER of a receipt. A subscriber's receipt of 5 MB is reported.
    public static let maximumSize = 8 << 20
    /// The maximum size of a JWS in bytes.
    public static let maximumCompactSize = 1 << 20
    /// The maximum size of the same receipt in base64.
    public static let maximumTextSize = (maximumSize + 2) / 3 * 4
    /// The accepted clock difference in milliseconds. A receipt arrives immediately, but clocks differ.
    static let clockTolerance: Int64 = 60_000

    private let trust: CurrentTrust
    private let purchases: SignedPurchaseVerifier
    private let clock: any WallClock

    /// The most tables of keys' multiples, of 150 KB each, unless the caller states another number.
    public static let standardKeyTables = 4

    /// - Parameters:
    ///   - appKeys: The keys of the apps on Google Play whose purchases are verified.
    ///   - keyTables: The most P-256 keys with a table, which halves the time of a signature; 0 for none. A key that signs at
    ///     least 1,024 of 8,192 proofs gets one, on a thread of its own.
    public init(
        anchors: TrustAnchors, appKeys: [AppKey] = [], clock: any WallClock,
        keyTables: Int = ProofVerifier.standardKeyTables
    ) {
        self.init(anchors: anchors, appKeys: KnownAppKeys(appKeys), clock: clock, keyTables: keyTables)
    }

    package init(
        anchors: TrustAnchors, appKeys: KnownAppKeys, clock: any WallClock,
        keyTables: Int = ProofVerifier.standardKeyTables
    ) {
        trust = CurrentTrust(anchors, keyTables: keyTables)
        purchases = SignedPurchaseVerifier(keys: appKeys, clock: clock)
        self.clock = clock
    }

    /// Verifies an app receipt in base64 or DER, a JWS in compact form, a receipt of Unity with one of them, or the JSON object of a signed
    /// purchase of Google Play (`SignedPurchase`).
    public func verify(
        _ proof: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        guard proof.count <= Self.maximumTextSize else { throw ProofRefusal(.tooLarge) }
        switch try ProofForm(of: proof) {
        case .appReceipt(let container):
            guard container.count <= Self.maximumSize else { throw ProofRefusal(.tooLarge) }
            return try verify(container: container, expecting: expectations)
        case .signedJSON(let compact):
            guard compact.count <= Self.maximumCompactSize else { throw ProofRefusal(.tooLarge) }
            return try verify(compact: compact, expecting: expectations)
        case .signedPurchase(let purchase): return try verify(purchase, expecting: expectations)
        }
    }

    /// Verifies a signed purchase of Google Play.
    public func verify(
        _ purchase: SignedPurchase,
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        let purchase = try purchases.verify(purchase)
        // Nothing in the purchase tells a license tester's from others.
        let environment = AppStoreEnvironment.production
        guard let origin = Origin(realm: purchase.key.realm, environment: environment) else {
            throw ProofRefusal(.originNotAccepted, "A key of \(purchase.key.realm.rawValue) cannot sign purchases.")
        }
        try expectations.check(
            app: (purchase.key.bundleIdentifier, .never), environment: environment, origin: origin)
        return VerifiedProof(
            content: .signedPurchase(purchase), origin: origin, signedAt: purchase.purchaseTime,
            bundleIdentifier: purchase.key.bundleIdentifier, digest: purchase.digest,
            chains: [], unreadableFields: purchase.unreadableFields,
            fingerprints: .init(anchor: purchase.key.fingerprint, leaf: purchase.key.fingerprint))
    }

    /// Decodes a proof as far as its bytes can be read, for people to see. It judges nothing, and caches nothing.
    public func inspect(_ proof: [UInt8]) -> ProofInspection {
        var inspector = ProofInspector(anchors: trust.state.anchors, appKeys: purchases.keys, now: clock.now())
        return inspector.inspect(proof)
    }

    /// True if the cache has the chain of the JWS, so that its verification is cheap.
    public func hasCachedChain(_ proof: [UInt8]) -> Bool {
        guard let end = proof.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return trust.state.chains.contains(header: proof[..<end])
    }

    /// Replaces the trusted roots, for all copies of the verifier. Chains to earlier roots are forgotten.
    package func replaceRoots(with anchors: TrustAnchors) { trust.replace(with: anchors) }

    /// The number of chains in the cache.
    package var cachedChainCount: Int { trust.state.chains.count }

    /// The number of keys with a table. Waits for tables that are being made.
    package var keyTableCount: Int { trust.state.signingKeys.tableCount }

    private func verify(
        container bytes: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        let signedData = try SignedData(ber: bytes)
        let moment = AppReceipt.creationDate(ofPayload: signedData.content) ?? clock.now()
        let trust = trust.state
        let known = trust.chains.find(signedData, at: moment)
        let chain = if let known { known.chain } else { try validate(signedData, by: trust, at: moment) }
        let digest = signedData.contentDigest
        guard signedData.isSigned(by: chain.key, digest: digest) else { throw ProofRefusal(.signatureInvalid) }
        if known == nil { trust.keep(.init(signedData, chain)) }

        var receipt = AppReceipt()
        let unreadable: Set<Int>
        do { unreadable = try receipt.read(payload: signedData.content) } catch {
            throw error as? ProofRefusal ?? ProofRefusal(.payloadInvalid)
        }
        if let device = expectations.deviceIdentifier, !receipt.isValid(forDevice: device) {
            throw ProofRefusal(.deviceMismatch)
        }
        return try accept(
            SignedPayload(receipt, unreadable: unreadable), chain: chain,
            // Receipts before 2023 sign a SHA-1 digest, which is too weak to identify a proof.
            digest: signedData.signer.digest == .sha256
                ? digest : DigestAlgorithm.sha256.digest(of: signedData.content),
            expecting: expectations)
    }

    private func validate(
        _ signedData: SignedData, by trust: CurrentTrust.State, at moment: Timestamp
    ) throws(ProofRefusal) -> ValidatedChain {
        let certificates = signedData.certificates.compactMap { trust.intermediates.certificate(Array($0)) }
        var refusal = ProofRefusal(.signerCertificateMissing)
        // An attacker may put a certificate with the same name first, so every candidate is tried. The reader limits
        // the number of certificates.
        for leaf in signedData.signerCertificates(among: certificates).reversed() {
            do throws(ProofRefusal) {
                return try trust.anchors.validate(
                    leaf: leaf, others: certificates.filter { $0 != leaf }, known: trust.intermediates, at: moment)
            } catch {
                refusal = error
            }
        }
        throw refusal
    }

    private func verify(
        compact bytes: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        let (payload, chain, digest) = try verifiedPayload(compact: bytes)
        var proof = try accept(payload, chain: chain, digest: digest, expecting: expectations)
        guard case .notification(let notification) = payload.content else { return proof }
        for part in notification.signedParts {
            let inner = try verify(part.compact, in: part.field, as: part.kind, of: proof, chain: chain)
            if !proof.chains.contains(inner.chain.path) { proof.chains.append(inner.chain.path) }
            proof.unreadableFields += inner.payload.unreadableFields
            switch inner.payload.content {
            case .transaction(let transaction):
                proof.notifiedTransaction = transaction
                proof.notifiedTransactionProofs = [
                    VerifiedProof.SignedPart(
                        compact: part.compact, digest: inner.digest, fingerprints: inner.chain.fingerprints)
                ]
            case .renewalInfo(let renewalInfo):
                proof.notifiedRenewal = StatedRenewal(renewalInfo, digest: inner.digest)
            case .appTransaction(let app): proof.notifiedAppTransactions = app.appTransactionId.map { [$0] } ?? []
            default: break
            }
        }
        return proof
    }

    /// A verified JWS, and the SHA-256 of its signed bytes.
    private typealias VerifiedJSON = (payload: SignedPayload, chain: ValidatedChain, digest: [UInt8])

    /// Verifies a JWS inside a notification. It must lead to the same root, have the kind that its field requires, and
    /// name the same app and environment.
    private func verify(
        _ compact: String,
        in field: String,
        as kind: ProofInspection.Kind,
        of notification: VerifiedProof,
        chain: ValidatedChain
    ) throws(ProofRefusal) -> VerifiedJSON {
        let inner: VerifiedJSON
        do {
            inner = try verifiedPayload(compact: Array(compact.utf8))
        } catch {
            throw ProofRefusal(.innerProofInvalid, "The field \(field) is refused: \(error.code).")
        }
        guard inner.chain.anchor == chain.anchor else {
            throw ProofRefusal(.innerProofInvalid, "The field \(field) leads to another root than the notification.")
        }
        guard inner.payload.kind == kind else {
            throw ProofRefusal(.innerProofInvalid, "The field \(field) contains another kind of proof.")
        }
        guard inner.payload.environment == notification.environment.rawValue,
            inner.payload.bundleIdentifier == nil || inner.payload.bundleIdentifier == notification.bundleIdentifier
        else { throw ProofRefusal(.innerProofInvalid, "The field \(field) is for another app or environment.") }
        return inner
    }

    /// Verifies a JWS from its encoding to its payload.
    private func verifiedPayload(compact bytes: [UInt8]) throws(ProofRefusal) -> VerifiedJSON {
        let signed = try SignedJSON(compact: bytes)
        let payload = Result { () throws(JSONSyntaxError) in try JSONParser.parse(signed.payload) }
        let moment = SignedPayload.date(of: payload) ?? clock.now()
        let trust = trust.state
        let known = trust.chains.find(signed, at: moment)
        let chain = if let known { known.chain } else { try validate(signed, by: trust, at: moment) }
        let headerDigest = known?.headerDigest ?? signed.headerDigest
        let digest = signed.digest(continuing: headerDigest)
        guard signed.isSigned(by: chain.key, digest: digest) else { throw ProofRefusal(.signatureInvalid) }
        if known == nil {
            trust.keep(.init(signed, chain, headerDigest: headerDigest))
        } else {
            trust.signingKeys.count(chain.key)
        }
        switch payload {
        case .failure(let error): throw ProofRefusal(error)
        case .success(let value): return (try SignedPayload(value), chain, digest)
        }
    }

    private func validate(
        _ signed: SignedJSON, by trust: CurrentTrust.State, at moment: Timestamp
    ) throws(ProofRefusal) -> ValidatedChain {
        let encoded = try signed.certificates()
        guard encoded.count == 3 || encoded.count == 1 else { throw ProofRefusal(.chainShape) }
        // Only the number of certificates matters for the last of three: the anchor is trusted already.
        let certificates = encoded.prefix(2).compactMap { trust.intermediates.certificate($0) }
        guard let leaf = certificates.first, certificates.count == min(encoded.count, 2) else {
            throw ProofRefusal(.signerCertificateMissing)
        }
        return try trust.anchors.validate(
            leaf: leaf, others: Array(certificates.dropFirst()), roots: Array(encoded.dropFirst(2)),
            known: trust.intermediates, at: moment)
    }

    /// Verifies the payload's date, environment and app, after its signature.
    private func accept(
        _ payload: SignedPayload,
        chain: ValidatedChain,
        digest: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        guard payload.signedAt.millisecondsSince1970 <= clock.now().millisecondsSince1970 + Self.clockTolerance else {
            throw ProofRefusal(.signedInFuture, "Its date is \(payload.signedAt.rfc3339).")
        }
        guard let environment = AppStoreEnvironment(rawValue: payload.environment) else {
            throw ProofRefusal(
                .payloadInvalid, "Apple defines no environment \"\(payload.environment.prefix(32))\".")
        }
        let realm = chain.anchor.realm
        guard let origin = Origin(realm: realm, environment: environment) else {
            throw ProofRefusal(
                .originNotAccepted, "A signer of \(realm.rawValue) cannot sign for \(environment.rawValue).")
        }
        try expectations.check(
            app: (payload.bundleIdentifier, StatedAppAppleIdentifier(in: payload.content)), environment: environment,
            origin: origin)
        return VerifiedProof(
            content: payload.content, origin: origin, signedAt: payload.signedAt,
            bundleIdentifier: payload.bundleIdentifier, digest: digest, chains: [chain.path],
            unreadableFields: payload.unreadableFields, fingerprints: chain.fingerprints)
    }
}

/// The expectations about an authentic proof.
public struct ProofExpectations: Sendable {
    /// An app that a proof may be for.
    public struct App: Hashable, Sendable {
        public let bundleIdentifier: String
        /// The app's Apple ID, which production notifications and app transactions state. Nil accepts any.
        public let appAppleIdentifier: Int64?

        public init(bundleIdentifier: String, appAppleIdentifier: Int64? = nil) {
            self.bundleIdentifier = bundleIdentifier
            self.appAppleIdentifier = appAppleIdentifier
        }
    }

    /// The apps that the proof may be for. Nil accepts any.
    public var apps: [App]?
    /// The environment that the proof must come from. Nil accepts any.
    public var environment: AppStoreEnvironment?
    public var origins: Set<Origin>
    /// The device that an app receipt must be issued for: 16 bytes of `identifierForVendor`, or the 6 bytes of a Mac's
    /// network address. Nil accepts any device. Other proofs do not identify a device.
    public var deviceIdentifier: [UInt8]?

    /// The expectations of one app.
    ///
    /// - Parameter bundleIdentifier: The bundle identifier, or nil for any app.
    public init(
        bundleIdentifier: String? = nil,
        environment: AppStoreEnvironment? = nil,
        origins: Set<Origin> = Origin.defaultAccepted,
        deviceIdentifier: [UInt8]? = nil
    ) {
        apps = bundleIdentifier.map { [App(bundleIdentifier: $0)] }
        self.environment = environment
        self.origins = origins
        self.deviceIdentifier = deviceIdentifier
    }

    /// The expectations of a service that sells one or several apps.
    public init(apps: [App], origins: Set<Origin>) {
        self.apps = apps
        self.origins = origins
    }

    func check(
        app found: (bundleIdentifier: String?, appAppleIdentifier: StatedAppAppleIdentifier),
        environment foundEnvironment: AppStoreEnvironment,
        origin: Origin
    ) throws(ProofRefusal) {
        try check(bundleIdentifier: found.bundleIdentifier, found.appAppleIdentifier, foundEnvironment)
        if let environment, environment != foundEnvironment {
            throw ProofRefusal(
                .environmentMismatch,
                "The proof is from \(foundEnvironment.rawValue), but \(environment.rawValue) was expected.")
        }
        guard origins.contains(origin) else {
            let accepted = origins.map(\.rawValue).sorted().joined(separator: ", ")
            throw ProofRefusal(
                .originNotAccepted, "The proof is from \(origin.rawValue); the accepted origins are \(accepted).")
        }
    }

    private func check(
        bundleIdentifier: String?,
        _ stated: StatedAppAppleIdentifier,
        _ environment: AppStoreEnvironment
    ) throws(ProofRefusal) {
        guard let bundleIdentifier, let apps else { return }
        guard let app = apps.first(where: { $0.bundleIdentifier.hasSameBytes(as: bundleIdentifier) }) else {
            let expected = apps.map(\.bundleIdentifier).joined(separator: " or ")
            throw ProofRefusal(
                .bundleIdentifierMismatch,
                "The proof names \"\(bundleIdentifier.prefix(155))\", but \(expected) was expected.")
        }
        // Only production proofs state the Apple ID.
        guard let expected = app.appAppleIdentifier, case .possible(let number) = stated,
            number != nil || environment == .production
        else { return }
        guard number == expected else {
            throw ProofRefusal(
                .bundleIdentifierMismatch,
                number.map { "Its appAppleId is \($0), but \(expected) was expected." }
                    ?? "Its appAppleId is missing, but \(expected) was expected.")
        }
    }
}

/// The app's Apple ID in a payload.
enum StatedAppAppleIdentifier {
    /// The kind of payload has no such field.
    case never
    /// The value of the field, or nil if the field is missing.
    case possible(Int64?)

    init(in content: VerifiedProof.Content) {
        self =
            switch content {
            case .notification(let notification): .possible(notification.appAppleId)
            case .appTransaction(let appTransaction): .possible(appTransaction.appAppleId)
            // It names no bundle identifier, so whoever answers it finds the app by the number.
            case .realtimeRequest: .never
            case .appReceipt, .transaction, .renewalInfo, .signedPurchase: .never
            }
    }
}

/// The trusted roots of a verifier, and the valid chains to them.
///
/// Both are replaced together, so no kept chain outlives its root. A verification under way ends with the roots of its beginning.
final class CurrentTrust: Sendable {
    /// Roots with the chains that were validated by them.
    final class State: Sendable {
        let anchors: TrustAnchors
        let chains = ChainCache()
        let intermediates = KnownIntermediates()
        let signingKeys: SigningKeys

        init(_ anchors: TrustAnchors, keyTables: Int) {
            self.anchors = anchors
            signingKeys = SigningKeys(maximumTables: keyTables)
        }

        /// Keeps a chain under which a signature was valid.
        func keep(_ entry: ChainCache.Entry) {
            chains.insert(entry)
            intermediates.insert(entry.chain.path)
        }
    }

    private let current: Mutex<State>
    private let keyTables: Int

    init(_ anchors: TrustAnchors, keyTables: Int) {
        current = Mutex(State(anchors, keyTables: keyTables))
        self.keyTables = keyTables
    }

    var state: State { current.withLock(\.self) }

    func replace(with anchors: TrustAnchors) {
        let state = State(anchors, keyTables: keyTables)
        current.withLock { $0 = state }
    }
}
