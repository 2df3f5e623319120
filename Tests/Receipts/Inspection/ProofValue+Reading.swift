import Proofs

/// The content of decoded values, for tests.
extension ProofValue {
    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var date: Timestamp? {
        guard case .date(let date, _) = self else { return nil }
        return date
    }

    var proof: ProofInspection? {
        guard case .proof(let proof) = self else { return nil }
        return proof
    }

    var fields: [Field] {
        guard case .fields(let fields) = self else { return [] }
        return fields
    }

    /// The number of values in the tree, without those of nested proofs.
    var count: Int {
        switch self {
        case .fields(let fields): fields.reduce(1) { $0 + $1.value.count }
        case .list(let values): values.reduce(1) { $0 + $1.count }
        default: 1
        }
    }
}
