/// The output of `till keys make --json`.
struct MadeKey: Decodable {
    let id: String
    let key: String
}
