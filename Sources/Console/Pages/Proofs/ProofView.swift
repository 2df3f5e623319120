import Features
import Proofs

extension InspectedProof {
    /// The decoded proof with the result of each check.
    @HTMLBuilder var view: HTML {
        h2 { "Verdict" }
        verdictList
        h2 { "Proof" }
        section(.class("card")) { inspection.facts(origin: origin) }
        h2 { "Header" }
        section(.class("card")) { Self.tree(inspection.header) }
        h2 { "Certificates" }
        inspection.certificateList
        h2 { "Payload" }
        section(.class("card")) { Self.tree(inspection.payload) }
    }

    private static func tree(_ value: ProofValue?) -> HTML {
        value.map { ProofTree.html($0) } ?? emptyNote("Unreadable.")
    }

    @HTMLBuilder private var verdictList: HTML {
        p {
            if verdict.isAccepted {
                Shown.badge("Accepted", .good)
            } else {
                Shown.badge("Refused", .bad)
            }
            plain(" ")
            if let failure = verdict.failure {
                Shown.identifier(failure.code)
            } else {
                "Every check passes. Whether a user may have the purchase is checked at the redemption."
            }
        }
        Listing.table("Checks in their order", of: ProofVerdict.Check.allCases, empty: "No checks.") {
            column("Check") { $0.title }
            column("Result") { badge(of: $0) }
            column("Finding and remedy") { check in
                if case .failed(let failure) = verdict[check] { finding(failure) } else { check.meaning }
            }
        }
    }

    private func badge(of check: ProofVerdict.Check) -> HTML {
        switch verdict[check] {
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
