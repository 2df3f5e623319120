import HTTPSupport
import Proofs

extension Field {
    /// A field for a moment to the second, in UTC.
    static func moment(_ name: String, _ title: Phrase, value: Timestamp? = nil) -> HTML {
        div(.class("field")) {
            label(.for(name)) { title }
            input(
                .type("datetime-local"), .id(name), .name(name), .required, HTMLAttribute("step", "1"),
                value.map { .value(String($0.rfc3339.prefix(19))) })
        }
    }
}

extension ConsoleForm {
    /// The moment of a field, in UTC.
    ///
    /// - Throws: `Problem`, `fieldInvalid`, for an empty field, too.
    func moment(_ name: String) throws(Problem) -> Timestamp {
        // Browsers leave out zero seconds.
        let text = try text(name, upTo: 32)
        let moment = Timestamp(rfc3339: text + "Z") ?? Timestamp(rfc3339: text + ":00Z")
        guard let moment else { throw Self.invalid(name, "a date and a time, such as 2027-01-31T12:00:00") }
        return moment
    }
}
