/// A list of facts: a name and a value for each.
enum Facts {
    static func list(_ facts: [(name: Phrase, value: HTML)]) -> HTML {
        dl(.class("facts")) {
            for fact in facts {
                div {
                    dt { fact.name }
                    dd { fact.value }
                }
            }
        }
    }
}
