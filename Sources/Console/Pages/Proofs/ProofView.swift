import Features
import Proofs

/// A decoded proof with the result of each check.
struct ProofView {
    private let proof: InspectedProof

    init(_ proof: InspectedProof) {
        self.proof = proof
    }

    private var inspection: ProofInspection { proof.inspection }

    @HTMLBuilder var html: HTML {
        h2 { "Verdict" }
        verdict
        h2 { "Proof" }
        section(.class("card")) { ProofFacts(inspection, origin: proof.origin).html }
        h2 { "Header" }
        section(.class("card")) { Self.tree(inspection.header) }
        h2 { "Certificates" }
        CertificateList(inspection).html
        h2 { "Payload" }
        section(.class("card")) { Self.tree(inspection.payload) }
    }

    private static func tree(_ value: ProofValue?) -> HTML {
        value.map { ProofTree($0).html } ?? emptyNote("Unreadable.")
    }

    @HTMLBuilder private var verdict: HTML {
        p {
            if proof.verdict.isAccepted {
                Shown.badge("Accepted", .good)
            } else {
                Shown.badge("Refused", .bad)
            }
            plain(" ")
            if let failure = proof.verdict.failure {
                Shown.identifier(failure.code)
            } else {
                "Every check passes. Whether a user may have the purchase is checked at the redemption."
            }
        }
        Listing.table("Checks in their order", of: ProofVerdict.Check.allCases, empty: "No checks.") {
            column("Check") { $0.title }
            column("Result") { badge(of: $0) }
            column("Finding and remedy") { check in
                if case .failed(let failure) = proof.verdict[check] { finding(failure) } else { check.meaning }
            }
        }
    }

    private func badge(of check: ProofVerdict.Check) -> HTML {
        switch proof.verdict[check] {
        case .passed: Shown.badge("passed", .good)
        case .failed: Shown.badge("failed", .bad)
        case .notReached: Shown.badge("not reached")
        case .notNeeded: Shown.badge("not needed")
        }
    }

    @HTMLBuilder private func finding(_ failure: ProofVerdict.Failure) -> HTML {
        let explanation = RefusalExplanation(code: failure.code)
        p { Shown.identifier(failure.code) }
        if let explanation {
            p { explanation.cause }
            p { explanation.remedy }
        }
        p(.class("note")) { data(failure.message) }
    }
}

extension ProofVerdict.Check {
    var title: Phrase {
        switch self {
        case .size: "Size"
        case .encoding: "Encoding"
        case .container: "Container"
        case .chain: "Chain"
        case .extensions: "Extensions"
        case .signature: "Signature"
        case .payload: "Payload"
        case .appAndOrigin: "App and origin"
        case .product: "Product"
        }
    }

    /// The rule of the check.
    var meaning: Phrase {
        switch self {
        case .size: "At most 8 MiB, a JWS at most 1 MiB."
        case .encoding: "DER, base64 of DER, or a JWS."
        case .container: "PKCS#7 with one signer, or a JWS with ES256 and its certificates."
        case .chain: "Leaf, intermediate and a trusted root, each valid at the proof's date."
        case .extensions: "Apple's extensions in leaf and intermediate."
        case .signature: "Made with the leaf's key over these bytes."
        case .payload: "Apple's format, and no date in the future."
        case .appAndOrigin: "An app of this service, and an accepted origin."
        case .product: "A product of the app's catalog."
        }
    }
}
