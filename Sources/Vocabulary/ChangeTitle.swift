/// The title of a kind of change on the pages of its history. An event of a user's audit log has more (`EventRule`).
package struct ChangeTitle: Hashable, Sendable {
    package let english: String
    package let korean: String

    package init(_ english: String, korean: String) { (self.english, self.korean) = (english, korean) }
}
