mod frames;
mod match_page;
