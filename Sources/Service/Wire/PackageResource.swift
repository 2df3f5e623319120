/// A product in an offering, under a name that the app knows, such as `$rc_monthly`.
package struct PackageResource: Codable, Sendable {
    package let identifier: String
    package let productId: String
}
