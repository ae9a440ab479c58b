//! What dual values prove: the slack of any pair of vertices.

use super::{Blossoms, Cost};

/// Slacks of the edges of one vertex after the other.
#[derive(Debug)]
pub(crate) struct Slacks<'a, const N: usize> {
    search: &'a Blossoms<N>,
    vertex: usize,
    /// Twice the values of the blossoms that the vertex is in together with each other.
    common: Vec<Cost<N>>,
}

impl<'a, const N: usize> Slacks<'a, N> {
    /// Those of a search that has ended.
    pub(crate) fn new(search: &'a Blossoms<N>) -> Self {
        Self { search, vertex: 0, common: vec![Cost::ZERO; search.top.len()] }
    }

    /// Turns to a vertex.
    pub(crate) fn of(&mut self, vertex: usize) {
        let nodes = &self.search.nodes;
        self.vertex = vertex;
        self.common.fill(Cost::ZERO);
        let up = |&node: &usize| nodes[node].parent;
        let mut way: Vec<usize> = std::iter::successors(Some(vertex), up).collect();
        let mut sum = Cost::ZERO;
        // From the outside in: what a blossom's other parts share with the vertex is that blossom
        // and those around it.
        while let Some(blossom) = way.pop()
            && let Some(&inner) = way.last()
        {
            sum += nodes[blossom].value.double();
            for &part in nodes[blossom].parts.iter().filter(|&&part| part != inner) {
                for &member in &nodes[part].members {
                    self.common[member] = sum;
                }
            }
        }
    }

    /// Twice the slack of the edge to another vertex, which costs so much; also of one that the
    /// search never saw.
    pub(crate) fn with(&self, other: usize, cost: Cost<N>) -> Cost<N> {
        let reach = &self.search.reach;
        cost.double() - reach[self.vertex] - reach[other] + self.common[other]
    }
}
