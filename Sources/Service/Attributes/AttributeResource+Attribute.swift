import Features
import Proofs

extension AttributeResource {
    /// - Returns: Nil for a removed attribute.
    init?(_ attribute: Attribute) {
        guard let value = attribute.value else { return nil }
        self.init(name: attribute.name, value: value, statedAt: attribute.statedAt.rfc3339)
    }
}
